"""Search for pairs by a text in their tokens."""

from collections.abc import Iterator

import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.statistics.pairs import pair_delta
from tests.precompute.passes.pairs.test_pair_questions import EVERYTHING
from tests.precompute.passes.pairs.test_pair_ranking import COLUMNS, copy_of

TOKENS = ["50%_o'Clock", "Été", "t", "x", "y"]


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
def test_text_is_looked_for_as_it_is_in_either_token(renamed, text, matches):
    every = pair_delta.browse(renamed, **EVERYTHING)
    found = pair_delta.browse(renamed, **EVERYTHING | {"text": text})
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
def test_each_side_can_have_a_text_of_its_own(renamed, texts):
    every = pair_delta.browse(renamed, **EVERYTHING)
    found = pair_delta.browse(renamed, **EVERYTHING | texts)
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
