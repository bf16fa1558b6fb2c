"""Published numbers stand beside a file's own, compared only where both are of one experiment."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from analysis.published.numbers import MODEL, N_SEQUENCES, N_TOKENS, Published, numbers
from analysis.published.pairs import AMPLIFIED, ATTENUATED
from pages.kit import published_table
from pages.kit.items import Group, Table, Text
from pages.kit.published_table import Row
from pages.services.open_file import Store, Version
from pages.token_pairs.lists import in_both
from tests.pages.kit.ran import Ran, ran

pytestmark = pytest.mark.slow
SAME = {
    "model": MODEL,
    "n_layers": 12,
    "n_heads": 12,
    "hidden_size": 768,
    "n_sequences": N_SEQUENCES,
    "n_tokens": N_TOKENS,
    "mask_rate": 0.0,
}
"""The run of the papers."""


@pytest.fixture
def file_of(changed, monkeypatch) -> Callable[..., Path]:
    """Choose a file that claims the papers' run, except for the given values."""

    def make(*statements: str, **run: object) -> Path:
        claims = [f"update stored.run set {name} = '{of}'" for name, of in (SAME | run).items()]
        folder = changed(*claims, *statements)
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        return folder

    return make


def printed(section: Ran) -> list[tuple[list[str], pd.DataFrame, str]]:
    """Columns, rows and captions of the tables of published numbers."""
    tables = [item for item in section.items if isinstance(item, Table)]
    return [
        (list(map(str, item.shown.frame)), item.shown.frame, item.shown.caption)
        for item in tables
        if "published" in item.shown.frame
    ]


def folds(section: Ran) -> list[str]:
    groups = [item for item in section.items if isinstance(item, Group)]
    return [
        group.given[0] for group in groups if group.kind == "expander" if MODEL in group.given[0]
    ]


PLACES = [
    ("norms", "transformation", 0.0, "Not Only a Weight"),
    ("layer_mixing", "similarity", 0.12, "through the Lens of Attention Maps"),
    ("layer_mixing", "ratio", 0.12, "Analysis of Masked Language Models"),
    ("token_pairs", "tables", 0.12, "through the Lens of Attention Maps"),
]


@pytest.mark.parametrize(("page", "stem", "mask_rate", "paper"), PLACES)
def test_numbers_are_compared_in_the_same_experiment_and_folded_in_another(
    page, stem, mask_rate, paper, file_of, store_folder, monkeypatch
):
    file_of(mask_rate=mask_rate)
    same = ran(page, stem)
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    other = ran(page, stem)
    assert not folds(same)
    assert all("difference" in columns for columns, *_ in printed(same))
    texts = [item.body for item in same.items if isinstance(item, Text)]
    captions = [item.shown.caption for item in same.shown]
    assert any(paper in text for text in (*texts, *captions))
    assert len(folds(other)) == 1
    assert f"{N_SEQUENCES}" in "".join(other.texts("markdown"))
    assert all(columns == ["of", "published", "ours"] for columns, *_ in printed(other))


def test_agreement_and_difference_are_those_of_the_file(file_of):
    file_of(
        "update stored.attention_norm_correlation set spearman = -0.6881 "
        "where token_type = 'sep' and layer is null",
    )
    [(_, shown, caption)] = printed(ran("norms", "relation"))
    row = shown[shown["published"] == "−0.69"].iloc[0]
    assert (row["ours"], row["difference"]) == ("−0.688", "+0.002")
    assert "1 of 8 values" in caption


def test_ranks_of_the_corpus_are_not_compared_with_those_of_a_list(file_of):
    file_of(
        "insert into stored.ratio_frequency_correlation "
        "select * replace ('file' as source, -0.8601 as spearman) "
        "from stored.ratio_frequency_correlation where scope = 'attn_res' and not special_tokens"
    )
    [(_, shown, _)] = printed(ran("layer_mixing", "frequency"))
    assert len(shown) == len(numbers("ratio_frequency")) == 10
    compared = shown[shown["ours"].notna()]
    assert compared[["published", "ours"]].to_numpy().tolist() == [["−0.860", "−0.8601"]]


PAIR_COLUMNS = ["direction", "layer", "source", "target"]


def test_a_pair_is_found_in_the_papers_list_of_its_layer_and_direction_alone():
    pair = ATTENUATED[1][0]
    places = [("attenuated", 1), ("attenuated", 2), ("amplified", 1)]
    listed = pd.DataFrame([(*place, *pair) for place in places], columns=PAIR_COLUMNS)
    printed = in_both(listed)
    assert len(printed) == sum(map(len, (*AMPLIFIED.values(), *ATTENUATED.values())))
    expected = {(*place, *pair) for place in places} & set(
        printed[PAIR_COLUMNS].itertuples(index=False, name=None)
    )
    shared = printed[printed["in_both"]]
    assert set(shared[PAIR_COLUMNS].itertuples(index=False, name=None)) == expected
    assert ("attenuated", 1, *pair) in expected


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
    ("printed", "ours", "expected"),
    [
        ("0.79", (0.7949,), True),
        ("0.79", (0.7951,), False),
        ("-0.34", (-0.3351,), True),
        ("94%", (0.9351,), True),
        ("94%", (0.93,), False),
        ("17,443,296", (17443296,), True),
        ("0.79", (None,), False),
        ("0.79", (0.70, 0.60, 0.786), True),  # 0.79 as printed may be 0.785
        ("0.79", (0.70, 0.60, 0.784), False),
        ("0.79", (0.95, 0.90, 0.99), False),
        ("0.79", (0.7949, float("nan"), float("nan")), True),
    ],
)
def test_a_value_agrees_by_rounding_and_is_consistent_within_its_interval(printed, ours, expected):
    percent, text = printed.endswith("%"), printed.removesuffix("%")
    number = Published("kobayashi-2020", ("table", 1), "q", "mean", text, percent=percent)
    row = Row("x", number, *ours)
    assert row.is_consistent == expected
    assert len(ours) == 3 or row.agrees == expected
