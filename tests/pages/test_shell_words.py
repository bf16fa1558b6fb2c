"""The catalogue is whole: nothing missing, nothing left over, nothing said in one language only."""

import ast
import re

import pytest

from analysis.contracts import every_table
from pages.ui.about import told
from pages.ui.words import say as words

PAGES = words.PAGES
ANY = "[a-z0-9_]+"


def patterns(only_said: bool) -> set[str]:
    """Regular expressions of the keys in the pages' code; the open parts of f-strings match all."""
    found = set()
    for path in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "say" and node.args:
                found |= pattern(node.args[0])
            elif not only_said:
                found |= pattern(node)
    return found


def pattern(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {re.escape(node.value)}
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANY
            for part in node.values
        ]
        return {"".join(parts)} if parts and parts[0] != ANY else set()
    return set()


def test_every_key_that_is_used_is_in_the_catalogue():
    keys = words.catalogue()
    missing = [each for each in patterns(True) if not any(re.fullmatch(each, key) for key in keys)]
    assert not missing


def test_every_key_of_the_catalogue_is_used():
    keys = {
        key.removeprefix(f"{words.IMAGES}.")
        for key in words.catalogue()
        if not key.startswith("contract.")
    }
    used = re.compile("|".join(f"(?:{each})" for each in patterns(False)))
    assert not [key for key in keys if not used.fullmatch(key)]


def test_both_languages_take_the_same_values():
    for key, texts in words.catalogue().items():
        english, japanese = (words.placeholders(texts[each]) for each in words.LANGUAGES)
        assert english == japanese, key


def test_what_is_said_of_images_stands_in_place_of_something_and_takes_no_more_values():
    found = words.catalogue()
    of_images = {key: found[key] for key in found if key.startswith(f"{words.IMAGES}.")}
    assert of_images
    for key, texts in of_images.items():
        usual = found[key.removeprefix(f"{words.IMAGES}.")]
        assert words.placeholders(texts["en"]) <= words.placeholders(usual["en"]), key
        assert texts["en"] != usual["en"], key


def test_no_text_is_empty():
    assert not [key for key, texts in words.catalogue().items() if not all(texts.values())]


def contracts() -> dict[str, str]:
    """Every sentence of every contract, with a column or a view that says it."""
    found = {}
    for table in every_table():
        for view in (table.shown(), *table.all_views):
            found[view.grain] = view.name
            for column in view.columns:
                found[column.meaning] = f"{view.name}.{column.name}"
                found[column.unit] = f"unit of {view.name}.{column.name}"
    return found


def test_every_sentence_of_every_contract_is_told_in_japanese():
    translated = {
        texts["en"] for key, texts in words.catalogue().items() if key.startswith("contract.")
    }
    assert not {text: place for text, place in contracts().items() if text not in translated}
    assert not translated - set(contracts()), "translations of what no contract says any more"


def test_contracts_are_told_in_the_language_of_the_session(in_session):
    script = (
        "import streamlit as st\nfrom pages.ui.about import told\nst.markdown(told('smallest'))"
    )
    assert in_session(script, lang="ja").markdown[0].value == "最小値"
    assert in_session(script, lang="en").markdown[0].value == "smallest"
    assert told("smallest") == "smallest"


def test_an_unknown_key_is_an_error_that_names_it():
    with pytest.raises(KeyError, match=r"no\.such\.key"):
        words.say("no.such.key")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[a.b]\nen = "x"\nja = "y"\n', "twice"),
        ('[c.d]\nen = "x"\n', "must have exactly en, ja"),
    ],
)
def test_a_broken_catalogue_is_refused(text, reason, tmp_path, monkeypatch):
    (tmp_path / "first.toml").write_text('[a.b]\nen = "x"\nja = "y"\n', encoding="utf-8")
    (tmp_path / "second.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(words, "PAGES", tmp_path)
    with pytest.raises(ValueError, match=reason):
        words.catalogue.__wrapped__()


@pytest.mark.parametrize(
    "hostile", ["**bold**", "<b>x</b>", "[a](http://b)", "$x$", ":red[x]", "a_b", "# h", "1. x"]
)
def test_hostile_text_is_shown_as_it_is(hostile):
    assert re.sub(r"\\(.)", r"\1", words.plain(hostile)) == hostile
    assert not re.search(r"(?<!\\)[*_<>\[\]$:`#]", words.plain(hostile))


@pytest.mark.parametrize(
    ("locale", "asked", "expected"),
    [("ja-JP", None, "ja"), ("de-DE", None, "en"), ("ja-JP", "en", "en"), ("en", "xx", "en")],
)
def test_the_language_is_the_browsers_until_one_is_chosen(locale, asked, expected):
    from streamlit.testing.v1 import AppTest

    session = AppTest.from_string(
        "import streamlit as st\nfrom pages.ui.words.say import language, language_picker\n"
        "language_picker()\nst.markdown(language())"
    )
    session.context = {"locale": locale}
    if asked:
        session.query_params["lang"] = asked
    assert session.run().markdown[0].value == expected
