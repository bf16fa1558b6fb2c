"""Recognition of a paper's experiment in a file, and agreement of its values."""

from collections.abc import Callable, Mapping

import pandas as pd
import pytest

from analysis.published.numbers import N_TOKENS, Published
from pages.ui import published
from pages.ui.published import Row
from pages.ui.store.open_file import Store, Version
from tests.pages.published.conftest import SAME


@pytest.fixture
def apart(monkeypatch) -> Callable[..., str]:
    """Difference of a file with such a run and such facts from a paper's experiment."""

    def ask(paper: str = "kobayashi-2020", facts: Mapping[str, str] = {}, **run: object) -> str:
        provenance = {"random_weights": "none", "segments_given": "0, 1", **facts}
        version = Version("tiny.duckdb", 0, 0)
        store = Store(version, pd.Series(SAME | run), facts=provenance, rows={}, content="")
        monkeypatch.setattr(published, "open_store", lambda: store)
        return published.apart(paper) or "same"

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
def test_the_published_model_is_known_by_its_name(name, apart):
    assert apart(model=name) == "same"


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
def test_anything_else_is_another_experiment(run, expected, apart):
    assert apart(**run) == expected


@pytest.mark.parametrize(("rate", "expected"), [(0.12, "same"), (0.0, "masking")])
@pytest.mark.parametrize("paper", ["kobayashi-2021", "kobayashi-2024"])
def test_masking_is_that_of_the_paper(paper, rate, expected, apart):
    assert apart(paper, mask_rate=rate) == expected


@pytest.mark.parametrize(
    ("paper", "given", "expected"),
    [
        ("kobayashi-2020", "0, 1", "same"),
        ("kobayashi-2020", "0", "segments"),
        ("clark-2019, wikipedia", "0", "same"),
        ("clark-2019, wikipedia", "0, 1", "segments"),
    ],
)
def test_segment_ids_are_those_that_the_papers_model_got(paper, given, expected, apart):
    assert apart(paper, {"segments_given": given}) == expected


def test_single_sentences_have_one_segment_whatever_was_asked_for(apart):
    asked = {"segments": "read", "segments_given": "0"}
    assert apart("clark-2019, treebank", asked, n_sequences=1696) == "same"


@pytest.mark.parametrize(("seed", "expected"), [("none", "same"), ("0", "weights")])
def test_an_untrained_model_is_not_the_papers(seed, expected, apart):
    assert apart(facts={"random_weights": seed}) == expected


@pytest.mark.parametrize(("seed", "expected"), [("none", "weights"), ("0", "same")])
def test_only_an_untrained_model_is_that_of_the_papers_untrained_one(seed, expected, apart):
    facts = {"random_weights": seed, "segments_given": "0"}
    assert apart("clark-2019, untrained", facts, n_sequences=1696) == expected


@pytest.mark.parametrize(("name", "expected"), [(SAME["model"], "corpus"), ("another", "model")])
def test_no_file_is_of_an_experiment_whose_corpus_is_unknown(name, expected, apart):
    facts = {"segments_given": "0"}
    assert apart("clark-2019, coreference", facts, model=name) == expected


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
