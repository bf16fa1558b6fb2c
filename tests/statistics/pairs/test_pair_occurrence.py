"""Occurrences of listed pairs, against those in the shards."""

from inspect import signature
from typing import Any

import pandas as pd
import pytest

from analysis.statistics.pairs import pair_delta, pair_occurrence
from analysis.statistics.pairs.pair_extreme import MIN_COUNTS
from analysis.statistics.pairs.pair_occurrence import _WAYS

PLACES = ["seq", "source_pos", "target_pos"]
PAIR = ["layer", "effect", "source", "target"]


@pytest.fixture(scope="module")
def occurrences(occurrences, layer_order) -> pd.DataFrame:
    """Every occurrence of every pair with its change by each effect."""
    columns = ["layer", "source", "target", *PLACES]
    effects = list(layer_order.effects)
    return occurrences.melt(columns, effects, var_name="effect", value_name="delta")


@pytest.fixture(scope="module")
def listed(pair_store, layer_order) -> pd.DataFrame:
    """The pairs of every list that a reader sees first."""
    lists: list[pd.DataFrame] = [
        pair_delta.top(
            pair_store,
            effect=effect,
            amplified=amplified,
            layer=None,
            min_count=least,
            special=special,
            rank="mean",
        ).assign(effect=effect)
        for effect in layer_order.effects
        for amplified, least, special in _WAYS
    ]
    pairs = pd.concat(lists)[["layer", "effect", "source_id", "target_id"]]
    return pairs.set_axis(PAIR, axis=1).drop_duplicates()


def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, occurrences, listed):
    expected = occurrences.merge(listed)
    found = pair_store.execute("from pair_occurrence").df().astype({"effect": str})
    columns = [*PAIR, *PLACES, "delta"]
    found, expected = (rows[columns].sort_values(columns[:-1]) for rows in (found, expected))
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False
    )
    assert 0 < len(expected) < len(occurrences)


def test_a_pair_shows_its_largest_changes_first_and_one_of_no_list_none(
    pair_store, occurrences, listed
):
    key = dict(zip(PAIR, ["layer", "effect", "source_id", "target_id"], strict=True))
    unlisted = occurrences[PAIR].merge(listed, how="left", indicator=True)
    unlisted = unlisted[unlisted["_merge"] == "left_only"].head(1)
    rows: Any = pd.concat([listed[::9], unlisted])[PAIR]
    for row in rows.to_dict("records"):
        asked = {key[name]: value for name, value in row.items()}
        shown = pair_occurrence.of_pair(pair_store, **asked, limit=10**6)
        of_pair = occurrences.merge(pd.DataFrame([row]))
        is_listed = len(listed.merge(pd.DataFrame([row]))) > 0
        same = shown.merge(of_pair, on=PLACES)
        assert len(same) == len(shown) == len(of_pair)
        assert shown["delta"].abs().is_monotonic_decreasing or not is_listed
        assert (
            (same["delta_x"] == same["delta_y"]).all() if is_listed else shown["delta"].isna().all()
        )
        assert len(pair_occurrence.of_pair(pair_store, **asked, limit=1)) == 1


def test_a_sequence_is_told_token_by_token(pair_store, pair_run):
    for sequence in pair_run[1].corpus:
        rows = pair_occurrence.sequence(pair_store, seq=sequence.index)
        assert rows["token"].tolist() == list(sequence.tokens)
        assert rows["pos"].tolist() == list(range(len(sequence)))
        assert rows["segment"].tolist() == sequence.segments.tolist()


@pytest.mark.parametrize("name", ["limit", "min_count"])
def test_what_a_reader_sees_first_is_among_the_lists_that_are_kept(family, name):
    default = signature(pair_delta.top).parameters[name].default
    assert default in {"limit": [pair_occurrence.LIMIT], "min_count": MIN_COUNTS}[name]
