import numpy as np
import pytest

from analysis.scopes import EFFECTS, RELATIONS
from analysis.statistics.pairs import relation_share
from tests.intervals import assert_ordered
from tests.reference.pairs import relation_share as share_reference
from tests.reference.pairs import sequence_relation_change as reference


@pytest.fixture(scope="module")
def amounts(masked_store) -> dict[tuple[int, str, str], dict[int, dict[str, float]]]:
    """Amounts of each relation by sequence, for every layer, effect and quantity."""
    by_quantity: dict = {}
    rows = masked_store.execute("from sequence_relation_change").fetchall()
    for seq, layer, effect, relation, n, before, change, gain in rows:
        for name, amount in (
            ("pairs", n),
            ("before", before),
            ("change", change),
            ("gain", gain),
            ("loss", change - gain),
        ):
            by_quantity.setdefault((layer, effect, name), {}).setdefault(seq, {})[relation] = amount
    return by_quantity


def test_shares_are_means_over_sequences_in_which_there_is_something_to_share(
    masked_store, amounts, layer_order
):
    rows = [
        (effect, row)
        for effect in layer_order.effects
        for row in relation_share.by_layer(masked_store, effect=effect).itertuples()
    ]
    assert len({effect for effect, _ in rows}) == len(layer_order.effects)
    for effect, row in rows:
        of = [
            of_sequence.get(row.relation, 0) / sum(of_sequence.values())
            for of_sequence in amounts[row.layer, effect, row.quantity].values()
            if sum(of_sequence.values())
        ]
        assert row.mean == pytest.approx(sum(of) / len(of), rel=1e-9)
        assert row.n_sequences == len(of)
        assert_ordered(row.low, row.mean, row.high)
        assert min(of) - 1e-12 <= row.mean <= max(of) + 1e-12


def test_the_mixing_before_is_that_of_the_maps_before_each_step(
    masked_store, masked_batches, layer_order, is_causal
):
    """Expected shares come from the layers' norms, pair of positions by pair of positions."""
    expected: dict = {}
    for batch in masked_batches:
        (layers,), (relations,), (sequence,) = batch.layer_mixing, batch.relations, batch.sequences
        names = [[RELATIONS[place] for place in row] for row in relations]
        for layer, mixing in enumerate(layers, start=1):
            norms = dict(zip(layer_order.scopes, mixing.maps.double().tolist(), strict=True))
            for effect, (before, after) in layer_order.effects.items():
                changes = reference.relation_changes(
                    norms[before], norms[after], names, causal=is_causal
                )
                for relation, numbers in changes.items():
                    expected[sequence.index, layer, effect, relation] = numbers
    rows = masked_store.execute("from sequence_relation_change").fetchall()
    assert {row[:4] for row in rows} == set(expected)
    for *key, n, held, change, gain in rows:
        assert (n, held, change, gain) == pytest.approx(expected[tuple(key)], rel=1e-4, abs=1e-6)


def test_ratios_are_of_the_same_sequences_mixing_before(masked_store, amounts, layer_order):
    for effect in layer_order.effects:
        frame = relation_share.by_layer(masked_store, effect=effect)
        is_baseline = frame["quantity"].isin(["pairs", "before"])
        assert frame[is_baseline]["ratio"].isna().all()
        for row in frame[~is_baseline].itertuples():
            sides = [
                [
                    of_sequence.get(row.relation, 0) / sum(of_sequence.values())
                    if sum(of_sequence.values())
                    else None
                    for of_sequence in amounts[row.layer, effect, quantity].values()
                ]
                for quantity in (row.quantity, "before")
            ]
            expected = share_reference.mean_ratio(*sides)
            assert row.ratio == pytest.approx(np.nan if expected is None else expected, nan_ok=True)
        assert frame[["ratio_low", "ratio_high"]].isna().all(axis=None)  # fewer than 10 sequences


def test_a_step_that_the_layers_do_not_have_has_no_row(masked_store, layer_order):
    for effect in set(EFFECTS) - set(layer_order.effects):
        assert relation_share.by_layer(masked_store, effect=effect).empty


def test_every_relation_that_occurs_is_there_and_their_shares_add_up_to_1(
    masked_store, layer_order
):
    occurring = {
        name
        for (name,) in masked_store.execute(
            "select distinct relation from sequence_relation_change"
        ).fetchall()
    }
    for effect in layer_order.effects:
        frame = relation_share.by_layer(masked_store, effect=effect)
        for _, group in frame.groupby(["layer", "quantity"]):
            assert set(group["relation"]) == occurring
            assert group["relation"].tolist() == [r for r in RELATIONS if r in occurring]
            assert group["mean"].sum() == pytest.approx(1)
