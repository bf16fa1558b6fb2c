"""Search for pairs by a text in their tokens, and tallies of the pairs that a list is of."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from pages.token_pairs.ranking import listed, tally
from tests.statistics.pairs.test_pair_ranking import COLUMNS, copy_of

of_bert = pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
EVERYTHING: Any = {"effect": "ff", "layers": [1], "min_count": 1, "limit": 10**6}
TOKENS = ["50%_o'Clock", "Été", "t", "x", "y"]
CHOICES = (
    {},
    {"text": "the"},
    {"text": '"the"', "relation": "adjacent"},
    {"special": False, "source": "dog"},
    {"target": "cat", "min_count": 4},
)


@pytest.fixture(scope="module")
def renamed(pair_run, tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """The store with five tokens of other names in turn."""
    names = str(TOKENS).replace('"50%_o\'Clock"', "'50%_o''Clock'")
    change = f"update stored.vocabulary set token = ({names})[1 + token_id % 5]"
    with copy_of(pair_run, tmp_path_factory.mktemp("renamed"), change) as store:
        yield store


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("%", {"50%_o'Clock"}),
        ("_", {"50%_o'Clock"}),
        ("'", {"50%_o'Clock"}),
        ("_O'CLOCK", {"50%_o'Clock"}),
        ("\\", set()),
        ("') or true --", set()),
        (".*", set()),
        ("étÉ", {"Été"}),
        ("T", {"Été", "t"}),
        ('"T"', {"t"}),
        ('"été"', {"Été"}),
        ('"_"', set()),
        ('"', set()),
        ('""', set()),
    ],
)
@of_bert
def test_text_is_looked_for_as_it_is_in_either_token(renamed, text, matches):
    every = listed(renamed, **EVERYTHING)
    found = listed(renamed, **EVERYTHING, text=text)
    assert set(every["source"]) == set(TOKENS)
    kept = every[every["source"].isin(matches) | every["target"].isin(matches)]
    assert found["place"].tolist() == list(range(1, len(kept) + 1))
    same = [column for column in COLUMNS if column != "place"]
    pd.testing.assert_frame_equal(found[same], kept[same].reset_index(drop=True), check_dtype=False)


@pytest.mark.parametrize(
    "texts",
    [{"source": "t"}, {"target": '"t"'}, {"source": "T", "target": "T", "text": "é"}],
    ids=str,
)
@of_bert
def test_each_side_can_have_a_text_of_its_own(renamed, texts):
    every = listed(renamed, **EVERYTHING)
    found = listed(renamed, **EVERYTHING | texts)
    fits = {"t": {"Été", "t"}, "T": {"Été", "t"}, '"t"': {"t"}, "é": {"Été"}}
    kept = every
    for side in ("source", "target"):
        if side in texts:
            kept = kept[kept[side].isin(fits[texts[side]])]
    if "text" in texts:
        either = kept[["source", "target"]].isin(fits[texts["text"]]).any(axis=1)
        kept = kept[either]
    assert 0 < len(kept) < len(every)
    pairs = ["source_id", "target_id"]
    assert found[pairs].to_numpy().tolist() == kept[pairs].to_numpy().tolist()


@pytest.mark.parametrize("more", CHOICES)
@pytest.mark.parametrize("layers", [[1], [1, 2]])
@of_bert
def test_it_counts_what_a_list_without_an_end_would_hold(more, layers, pair_store):
    choices = {"effect": "ff", "min_count": 2, "layers": layers, **more}
    found = tally(pair_store, **choices).iloc[0]
    rows = listed(pair_store, limit=10**6, **choices)
    assert found["n_pairs"] == len(rows) > 0
    assert found["n_sure"] == rows["low"].notna().sum()
    assert found["n_amplified"] == (rows["low"] > 0).sum()
    assert found["n_attenuated"] == (rows["high"] < 0).sum()
    assert found["n_clear"] == found["n_amplified"] + found["n_attenuated"]
    if found["n_sure"]:
        assert found["share"] == pytest.approx(found["n_clear"] / found["n_sure"])
