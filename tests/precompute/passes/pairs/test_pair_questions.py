"""Queries on pairs other than their lists."""

from itertools import product

import pytest

from analysis.errors import UnknownName
from analysis.statistics.pairs import pair, pair_delta
from tests.intervals import assert_ordered
from tests.refusals import refused

EVERYTHING = {
    "effect": "ff",
    "layer": 1,
    "min_count": 1,
    "text": "",
    "relation": "all",
    "special": True,
    "limit": 10**6,
}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"effect": "ff; drop"},
            "No effect is called 'ff; drop'. Known: ff, ff_ln, ff_res, ln_res, ln_res_ln, res_ln.",
        ),
        (
            {"relation": "adjacant"},
            "No relation is called 'adjacant'. Did you mean 'adjacent'? Known: adjacent, all, "
            "other_segment, same_segment, same_word, special, word_pieces.",
        ),
    ],
)
def test_a_name_that_nothing_goes_by_is_refused(pair_store, choice, message):
    asked = {"effect": "ff", "amplified": True, "layer": 1} | choice
    assert refused(UnknownName, pair_delta.top, pair_store, **asked) == message


def test_an_unknown_order_is_refused(pair_store):
    with pytest.raises(UnknownName, match="No order is called 'n'"):
        pair_delta.browse(pair_store, **EVERYTHING, order="n")


def test_one_pair_has_a_row_for_every_layer_and_effect(pair_store, all_pairs, layer_order):
    listed = all_pairs.sort_values("n").iloc[-1]
    rows = pair_delta.of_pair(
        pair_store, source_id=int(listed["source_id"]), target_id=int(listed["target_id"])
    )
    assert list(rows[["layer", "effect"]].itertuples(index=False, name=None)) == list(
        product((1, 2), layer_order.effects)
    )
    same = all_pairs.merge(rows[["layer", "effect", "mean_delta", "std_delta", "n", "n_sequences"]])
    assert len(same) == len(rows)
    assert_ordered(rows["low"], rows["mean_delta"], rows["high"])
    none = pair_delta.of_pair(pair_store, source_id=-1, target_id=-1)
    assert none.empty
    assert list(none.columns) == list(rows.columns)


def test_pairs_are_found_by_their_tokens(pair_store, all_pairs):
    for row in all_pairs.head(20).itertuples():
        ids = pair.look_up(pair_store, source=row.source, target=row.target)
        assert ids.to_numpy().tolist() == [[row.source_id, row.target_id]]
    for source, target in (("no such token", "the"), ("", ""), ("%", "%")):
        assert pair.look_up(pair_store, source=source, target=target).empty


def test_pairs_of_fewer_than_three_sequences_have_no_interval(pair_store):
    rows = pair_delta.browse(pair_store, **EVERYTHING)
    few = rows["n_sequences"] < 3
    assert rows.loc[few, ["low", "high"]].isna().all(axis=None)
    assert_ordered(rows["low"], rows["mean_delta"], rows["high"])
    assert rows.loc[~few, "low"].notna().any()
