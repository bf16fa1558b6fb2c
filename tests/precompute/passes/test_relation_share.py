import numpy as np
import pytest

from analysis.scopes import EFFECTS, RELATIONS
from analysis.tables import relation_share


@pytest.fixture(scope="module")
def amounts(masked_store) -> dict[tuple[int, str, str], dict[int, dict[str, float]]]:
    """Of every layer, effect and quantity, by sequence, what each relation has."""
    found: dict = {}
    rows = masked_store.execute("from sequence_relation_change").fetchall()
    for seq, layer, effect, relation, n, change, gain in rows:
        for name, amount in (
            ("pairs", n),
            ("change", change),
            ("gain", gain),
            ("loss", change - gain),
        ):
            found.setdefault((layer, effect, name), {}).setdefault(seq, {})[relation] = amount
    return found


@pytest.mark.parametrize("effect", EFFECTS)
def test_shares_are_means_over_sequences_in_which_there_is_something_to_share(
    masked_store, amounts, effect
):
    frame = relation_share.by_layer(masked_store, effect=effect)
    for row in frame.itertuples():
        of = [
            each.get(row.relation, 0) / sum(each.values())
            for each in amounts[row.layer, effect, row.quantity].values()
            if sum(each.values())
        ]
        assert row.mean == pytest.approx(sum(of) / len(of), rel=1e-9)
        assert row.n_sequences == len(of)
        ends = np.array([min(of), row.low, row.mean, row.high, max(of)])
        assert (np.diff(ends) >= -1e-12).all()


def test_every_relation_that_occurs_is_there_and_their_shares_add_up_to_1(masked_store):
    occurring = {
        name
        for (name,) in masked_store.execute(
            "select distinct relation from sequence_relation_change"
        ).fetchall()
    }
    for effect in EFFECTS:
        frame = relation_share.by_layer(masked_store, effect=effect)
        for _, group in frame.groupby(["layer", "quantity"]):
            assert set(group["relation"]) == occurring
            assert group["relation"].tolist() == [r for r in RELATIONS if r in occurring]
            assert group["mean"].sum() == pytest.approx(1)


def test_pairs_of_every_sequence_number_n_times_n_less_1(masked_store):
    wrong = masked_store.execute(
        """
        select count(*) from (
            select seq, layer, effect, sum(n) as n
            from sequence_relation_change group by seq, layer, effect)
        join sequence using (seq)
        where n <> n_tokens * (n_tokens - 1)
        """
    ).fetchall()
    assert wrong == [(0,)]


def test_pairs_are_shared_alike_by_every_effect_and_layer(masked_store):
    frames = [
        relation_share.by_layer(masked_store, effect=effect).query("quantity == 'pairs'")
        for effect in EFFECTS
    ]
    means = [group["mean"].tolist() for frame in frames for _, group in frame.groupby("layer")]
    assert all(each == means[0] for each in means)
