import numpy as np
import pytest

from analysis.statistics.mixing import rollout
from analysis.statistics.mixing.rollout import ATTENTION_ROLLOUT
from analysis.token_types import TOKEN_TYPES
from precompute.passes.batch import Batch
from precompute.passes.mixing import sequence_rollout
from tests.intervals import assert_ordered
from tests.reference.mixing import sequence_rollout as reference


def test_shares_follow_the_slow_twin_for_every_scope_and_the_paper(sequences, traced):
    batch = Batch(sequences, traced)
    rows = sequence_rollout.totals(batch).to_pandas()
    for (seq, depth, scope), group in rows.groupby(["seq", "layer", "scope"], observed=True):
        layers, scopes = batch.layer_mixing[seq][: depth + 1], batch.order.scopes
        if scope == ATTENTION_ROLLOUT:
            weights = (layer.maps[scopes.index("attn_w")].tolist() for layer in layers)
            maps = [reference.with_residual(matrix) for matrix in weights]
        else:
            maps = [layer.maps[scopes.index(scope)].tolist() for layer in layers]
        types = [TOKEN_TYPES[kind] for kind in sequences[seq].token_types]
        causal = traced.layers[0].weights.is_causal
        expected = reference.shares(reference.rollout(maps), types, causal=causal)
        found = {(row.token_type, row.distance): row.share for row in group.itertuples()}
        assert found == pytest.approx(expected, rel=1e-5)


def test_shares_are_means_over_all_sequences_and_add_up_to_1(masked_store, layer_order):
    for scope in (*layer_order.scopes, ATTENTION_ROLLOUT):
        _assert_means(masked_store, scope)
    scopes = masked_store.execute("select distinct scope from rollout").fetchall()
    assert {scope for (scope,) in scopes} == {*layer_order.scopes, ATTENTION_ROLLOUT}


def _assert_means(masked_store, scope: str) -> None:
    parts = masked_store.execute(
        "from sequence_rollout where scope = $scope", {"scope": scope}
    ).df()
    for name, frame in (
        ("token_type", rollout.by_token_type(masked_store, scope=scope)),
        ("distance", rollout.by_distance(masked_store, scope=scope)),
    ):
        np.testing.assert_allclose(frame.groupby("layer")["mean"].sum(), 1, rtol=1e-5)
        sums = parts.groupby(["layer", name])["share"].sum() / 3
        means = frame.set_index(["layer", name])["mean"]
        np.testing.assert_allclose(means.sort_index(), sums.sort_index(), rtol=1e-5)
        assert_ordered(frame["low"], frame["mean"], frame["high"])


def test_types_and_distances_make_up_each_other(masked_store):
    wrong = masked_store.execute(
        """
        with whole as (
            select layer, scope, token_type, mean from rollout where distance is null
        )
        select count(*) from (
            select layer, scope, token_type, any_value(whole.mean) as mean, sum(cell.mean) as sum
            from whole
            join rollout as cell using (layer, scope, token_type)
            where cell.distance is not null
            group by layer, scope, token_type)
        where abs(mean - sum) > 1e-9
        """
    ).fetchall()
    assert wrong == [(0,)]


def test_every_sequence_counts_in_every_mean(masked_store):
    counts = masked_store.execute("select distinct n_sequences from rollout").fetchall()
    assert counts == [(3,)]
