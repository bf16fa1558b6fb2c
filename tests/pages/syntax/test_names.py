"""Labels of dependencies are named and explained, known or not, in both languages."""

import pytest

from pages.syntax.names import UNIVERSAL, is_of
from pages.ui.words.dependencies import EVERYTHING
from pages.ui.words.say import catalogue

SCRIPT = """
import streamlit as st
from pages.ui.words.dependencies import relation_label, relation_line, relation_name
for label in {labels!r}:
    st.text(relation_name(label))
    st.text(relation_line(label))
    st.text(relation_label(label))
"""


@pytest.fixture
def wording(in_session):
    """Name, meaning and escaped label of labels."""

    def tell(*labels: str, lang: str = "en") -> list[tuple[str, str, str]]:
        texts = [text.value for text in in_session(SCRIPT.format(labels=labels), lang=lang).text]
        return list(zip(texts[::3], texts[1::3], texts[2::3], strict=True))

    return tell


def test_all_37_relations_of_universal_dependencies_are_explained():
    assert len(set(UNIVERSAL)) == 37
    explained = {key.split(".")[1] for key in catalogue() if key.startswith("dependency.")}
    explained -= set(EVERYTHING)
    assert set(UNIVERSAL) <= explained
    subtypes = explained - set(UNIVERSAL)
    assert {subtype.partition("_")[0] for subtype in subtypes} <= set(UNIVERSAL)
    lines = [catalogue()[f"dependency.{label}.meaning"] for label in explained]
    assert len({line["en"] for line in lines}) == len({line["ja"] for line in lines}) == len(lines)


@pytest.mark.parametrize(("lang", "name"), [("en", "passive subject"), ("ja", "受動の主語")])
def test_a_subtype_has_a_name_of_its_own(lang, name, wording):
    ((label, line, escaped),) = wording("nsubj:pass", lang=lang)
    assert label == f"nsubj:pass · {name}"
    assert line
    assert escaped == r"nsubj\:pass"


def test_an_unknown_subtype_is_explained_as_what_it_is_a_type_of(wording):
    (known, unknown) = wording("obl", "obl:elsewhere")
    assert unknown[0] == "obl:elsewhere · oblique nominal"
    assert unknown[1] == known[1]


def test_an_unknown_label_is_shown_as_it_is_written_and_explained_as_nothing(wording):
    ((label, line, escaped),) = wording("<b>*x*")
    assert (label, line) == ("<b>*x*", "")
    assert escaped == r"\<b\>\*x\*"


@pytest.mark.parametrize(
    ("relation", "label", "expected"),
    [
        ("nmod", "nmod:poss", True),
        ("nmod", "nmod", True),
        ("nmod:poss", "nmod:poss", True),
        ("nmod:poss", "nmod", False),
        ("obl", "nmod", False),
        ("all", "det", True),
        ("all", "punct", False),
        ("all", "root", False),
        ("all_words", "root", True),
    ],
)
def test_a_relation_has_the_words_of_its_subtypes(relation, label, expected):
    assert is_of(relation, label) is expected
