"""Recognition of a paper's experiment in a file, and agreement of its values."""

from collections.abc import Callable, Mapping

import pandas as pd
import pytest

from analysis.published.numbers import N_TOKENS, Published
from pages.kit import published_table
from pages.kit.published_table import Row
from pages.services.open_file import Store, Version
from tests.pages.published.conftest import SAME


@pytest.fixture
def apart() -> Callable[..., str]:
    """Difference of a file with such a run and such facts from a paper's experiment."""

    def ask(paper: str = "kobayashi-2020", facts: Mapping[str, str] = {}, **run: object) -> str:
        provenance = {"random_weights": "none", "segments_given": "0, 1", **facts}
        version = Version("tiny.duckdb", 0, 0)
        store = Store(version, pd.Series(SAME | run), facts=provenance, rows={}, content="")
        return published_table.apart(store, paper) or "same"

    return ask


NAME = SAME["model"]
ONE, TREEBANK = {"segments_given": "0"}, {"n_sequences": 1696}
UNTRAINED = {"random_weights": "0"}


@pytest.mark.parametrize(
    ("paper", "facts", "run", "expected"),
    [
        ("kobayashi-2020", {}, {}, "same"),
        ("kobayashi-2020", {}, {"model": f"{NAME}@86b5e0934494bd15c9632b12f734a8a67f72"}, "same"),
        ("kobayashi-2020", {}, {"model": f"google-bert/{NAME}"}, "same"),
        ("kobayashi-2020", {}, {"model": "someone/my-bert-base-uncased"}, "model"),
        ("kobayashi-2020", {}, {"n_layers": 6}, "model"),
        ("kobayashi-2020", {}, {"n_sequences": 991}, "corpus"),
        ("kobayashi-2020", {}, {"n_tokens": N_TOKENS - 1}, "corpus"),
        ("kobayashi-2020", {}, {"mask_rate": 0.12}, "masking"),
        ("kobayashi-2020", {}, {"model": "demo", "n_sequences": 12, "mask_rate": 0.12}, "model"),
        ("kobayashi-2021", {}, {"mask_rate": 0.12}, "same"),
        ("kobayashi-2024", {}, {"mask_rate": 0.0}, "masking"),
        ("kobayashi-2020", ONE, {}, "segments"),
        ("clark-2019, wikipedia", ONE, {}, "same"),
        ("clark-2019, wikipedia", {}, {}, "segments"),
        ("clark-2019, treebank", {"segments": "read", **ONE}, TREEBANK, "same"),
        ("kobayashi-2020", UNTRAINED, {}, "weights"),
        ("clark-2019, untrained", ONE, TREEBANK, "weights"),
        ("clark-2019, untrained", UNTRAINED | ONE, TREEBANK, "same"),
        ("clark-2019, coreference", ONE, {}, "corpus"),
        ("clark-2019, coreference", ONE, {"model": "another"}, "model"),
    ],
)
def test_an_experiment_is_known_by_model_weights_corpus_masking_and_segments(
    paper, facts, run, expected, apart
):
    assert apart(paper, facts, **run) == expected


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
