from inspect import signature
from itertools import product

import numpy as np
import pandas as pd
import pytest

from analysis.scopes import LayerOrder
from analysis.statistics.pairs import pair_delta, pair_occurrence
from analysis.statistics.pairs.pair_extreme import MIN_COUNTS

PLACES = ["seq", "source_pos", "target_pos"]


@pytest.fixture(scope="module")
def occurrences(slow_deltas, is_causal) -> pd.DataFrame:
    """Every occurrence of every pair with its change, from loops."""
    rows = [
        (layer, effect, ids[j], ids[i], seq, j, i, changes[i][j])
        for (layer, effect), sequences in slow_deltas.items()
        for seq, (ids, changes) in enumerate(sequences)
        for i, j in product(range(len(ids)), repeat=2)
        if (j < i if is_causal else j != i)
    ]
    columns = ["layer", "effect", "source", "target", *PLACES, "delta"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def listed(pair_store, layer_order: LayerOrder) -> set[tuple[int, str, int, int]]:
    """The pairs of every list that a reader sees first."""
    pairs = set()
    for effect, amplified, least, special in product(
        tuple(layer_order.effects), (True, False), MIN_COUNTS, (True, False)
    ):
        frame = pair_delta.top(
            pair_store,
            effect=effect,
            amplified=amplified,
            layer=None,
            min_count=least,
            special=special,
            rank="mean",
        )
        rows = frame[["layer", "source_id", "target_id"]].itertuples(index=False)
        pairs |= {(layer, effect, source, target) for layer, source, target in rows}
    return pairs


def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, occurrences, listed):
    key = ["layer", "effect", "source", "target", *PLACES]
    of_lists = [row[:4] in listed for row in occurrences[key].itertuples(index=False, name=None)]
    expected = occurrences[of_lists].sort_values(key, ignore_index=True)
    found = pair_store.execute("from pair_occurrence").df().astype({"effect": str})
    found = found.sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(found[key], expected[key], check_dtype=False)
    np.testing.assert_allclose(found["delta"], expected["delta"], atol=2e-6)
    assert 0 < len(expected) < len(occurrences)


def test_a_listed_pair_shows_its_largest_changes_first(pair_store, occurrences, listed):
    for layer, effect, source, target in sorted(listed)[::7]:
        asked = {"source_id": source, "target_id": target, "layer": layer, "effect": effect}
        shown = pair_occurrence.of_pair(pair_store, **asked, limit=10**6)
        of_pair = occurrences[
            (occurrences["layer"] == layer)
            & (occurrences["effect"] == effect)
            & (occurrences["source"] == source)
            & (occurrences["target"] == target)
        ]
        assert shown["delta"].abs().is_monotonic_decreasing
        same = shown.merge(of_pair, on=PLACES)
        assert len(same) == len(shown) == len(of_pair)
        np.testing.assert_allclose(same["delta_x"], same["delta_y"], atol=2e-6)
        average = pair_delta.of_pair(pair_store, source_id=source, target_id=target)
        row = average[(average["layer"] == layer) & (average["effect"] == effect)].iloc[0]
        assert shown["delta"].mean() == pytest.approx(row["mean_delta"], abs=1e-8)
        assert len(pair_occurrence.of_pair(pair_store, **asked, limit=1)) == 1


def test_a_pair_of_no_list_is_found_without_its_changes(pair_store, occurrences, listed):
    rows = occurrences[["layer", "effect", "source", "target"]].itertuples(index=False, name=None)
    layer, effect, source, target = next(row for row in rows if row not in listed)
    shown = pair_occurrence.of_pair(
        pair_store, source_id=source, target_id=target, layer=layer, effect=effect, limit=1000
    )
    of_pair = occurrences[
        (occurrences["layer"] == layer)
        & (occurrences["effect"] == effect)
        & (occurrences["source"] == source)
        & (occurrences["target"] == target)
    ]
    assert shown["delta"].isna().all()
    assert (
        shown[PLACES].to_numpy().tolist() == of_pair[PLACES].sort_values(PLACES).to_numpy().tolist()
    )


def test_a_sequence_is_told_token_by_token(pair_store, pair_run):
    for sequence in pair_run[1].corpus:
        rows = pair_occurrence.sequence(pair_store, seq=sequence.index)
        assert rows["token"].tolist() == list(sequence.tokens)
        assert rows["pos"].tolist() == list(range(len(sequence)))
        assert rows["segment"].tolist() == sequence.segments.tolist()


def test_what_a_reader_sees_first_is_among_the_lists_that_are_kept():
    defaults = {
        name: parameter.default for name, parameter in signature(pair_delta.top).parameters.items()
    }
    assert defaults["limit"] == pair_occurrence.LIMIT
    assert defaults["min_count"] in MIN_COUNTS
