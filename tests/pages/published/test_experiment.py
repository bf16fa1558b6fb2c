"""Whether a file is of the experiment that a paper made, and whether its values agree."""

import pytest

from analysis.published.numbers import N_TOKENS, Published
from pages.ui.published import Row


@pytest.fixture
def apart(in_session):
    """What sets a folder's file apart from a paper's experiment."""

    def ask(folder, paper="kobayashi-2020") -> str:
        script = f"""
import streamlit as st
from pages.ui.published import apart
st.text(apart({paper!r}) or "same")
"""
        return in_session(script, folder).text[0].value

    return ask


@pytest.mark.parametrize(
    "name",
    [
        "bert-base-uncased",
        "bert-base-uncased@86b5e0934494bd15c9632b12f734a8a67f723594",
        "google-bert/bert-base-uncased",
        "/somewhere/models/bert-base-uncased",
    ],
)
def test_the_published_model_is_known_by_its_name(name, file_of, apart):
    assert apart(file_of(model=name)) == "same"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"model": "bert-large-uncased"}, "model"),
        ({"model": "someone/my-bert-base-uncased"}, "model"),
        ({"n_layers": 6}, "model"),
        ({"n_sequences": 991}, "corpus"),
        ({"n_tokens": N_TOKENS - 1}, "corpus"),
        ({"mask_rate": 0.12}, "masking"),
        ({"model": "demo", "n_sequences": 12, "mask_rate": 0.12}, "model"),
    ],
)
def test_anything_else_is_another_experiment(run, expected, file_of, apart):
    assert apart(file_of(**run)) == expected


@pytest.mark.parametrize(("rate", "expected"), [(0.12, "same"), (0.0, "masking")])
@pytest.mark.parametrize("paper", ["kobayashi-2021", "kobayashi-2024"])
def test_masking_is_that_of_the_paper(paper, rate, expected, file_of, apart):
    assert apart(file_of(mask_rate=rate), paper) == expected


def fact(name: str, value: str) -> str:
    return f"update stored.provenance set value = '{value}' where name = '{name}'"


@pytest.mark.parametrize(
    ("paper", "given", "expected"),
    [
        ("kobayashi-2020", "0, 1", "same"),
        ("kobayashi-2020", "0", "segments"),
        ("clark-2019, wikipedia", "0", "same"),
        ("clark-2019, wikipedia", "0, 1", "segments"),
    ],
)
def test_segment_ids_are_those_that_the_papers_model_got(paper, given, expected, file_of, apart):
    assert apart(file_of(fact("segments_given", given)), paper) == expected


def test_single_sentences_have_one_segment_whatever_was_asked_for(file_of, apart):
    asked = (fact("segments", "read"), fact("segments_given", "0"))
    assert apart(file_of(*asked, n_sequences=1696), "clark-2019, treebank") == "same"


@pytest.mark.parametrize(("seed", "expected"), [("none", "same"), ("0", "weights")])
def test_an_untrained_model_is_not_the_papers(seed, expected, file_of, apart):
    assert apart(file_of(fact("random_weights", seed))) == expected


@pytest.mark.parametrize(("seed", "expected"), [("none", "weights"), ("0", "same")])
def test_only_an_untrained_model_is_that_of_the_papers_untrained_one(
    seed, expected, file_of, apart
):
    facts = (fact("random_weights", seed), fact("segments_given", "0"))
    assert apart(file_of(*facts, n_sequences=1696), "clark-2019, untrained") == expected


@pytest.mark.parametrize(
    ("printed", "percent", "ours", "expected"),
    [
        ("0.79", False, 0.7949, True),
        ("0.79", False, 0.7951, False),
        ("-0.34", False, -0.3351, True),
        ("94", True, 0.9449, True),
        ("94", True, 0.9351, True),
        ("94", True, 0.93, False),
        ("17,443,296", False, 17443296, True),
        ("0.79", False, None, False),
        ("0.79", False, float("nan"), False),
    ],
)
def test_a_value_agrees_where_it_rounds_to_the_printed_one(printed, percent, ours, expected):
    number = Published("kobayashi-2020", ("table", 1), "q", "mean", printed, percent=percent)
    assert Row("x", number, ours).agrees == expected
