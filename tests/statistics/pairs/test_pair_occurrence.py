"""Occurrences of listed pairs, against those in the shards."""

from itertools import product

import pandas as pd

from analysis.statistics.pairs.changes import LIMIT, MIN_COUNTS

PLACES = ["seq", "source_pos", "target_pos"]
PAIR = ["layer", "effect", "source", "target"]


def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, occurrences, layer_order):
    """Pairs are those that a reader sees first in the lists by mean change."""
    wide, listed = pair_store.execute("from pair_delta_wide").df(), []
    ways = product(layer_order.effects, (1, 2), (1, -1), MIN_COUNTS, (True, False))
    for effect, layer, sign, least, special in ways:
        rows = wide.assign(by=-sign * wide[f"mean_{effect}"], effect=effect)
        rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["by"] < 0)]
        rows = rows if special else rows[rows["relation"] > 0]
        listed.append(rows.sort_values(["by", "source", "target"]).head(LIMIT)[PAIR])
    columns = ["layer", "source", "target", *PLACES]
    effects = list(layer_order.effects)
    every = occurrences.melt(columns, effects, var_name="effect", value_name="delta")
    expected = every.merge(pd.concat(listed).drop_duplicates())
    found = pair_store.execute("from pair_occurrence").df().astype({"effect": str})
    columns = [*PAIR, *PLACES, "delta"]
    found, expected = (rows[columns].sort_values(columns[:-1]) for rows in (found, expected))
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False
    )
    assert 0 < len(expected) < len(every)
