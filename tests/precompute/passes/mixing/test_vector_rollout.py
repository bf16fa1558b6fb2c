import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.measures.mixing.vector_rollout import vector_rollout
from analysis.statistics.mixing import vector_agreement
from analysis.statistics.mixing import vector_rollout as table
from analysis.statistics.mixing.rollout import ATTENTION_ROLLOUT
from analysis.statistics.mixing.vector_rollout import VECTORS
from analysis.token_types import TOKEN_TYPES
from precompute.passes.batch import Batch
from precompute.passes.mixing import (
    sequence_vector_agreement,
    sequence_vector_rollout,
    vector_completeness,
)
from tests.intervals import assert_ordered
from tests.reference.mixing import sequence_rollout as reference

FOLLOWED = 1
"""Which of the tiny sequences is followed: a short one."""


@pytest.fixture(scope="module")
def batch(sequences, traced) -> Batch:
    return Batch(sequences, traced, followed=frozenset({FOLLOWED}))


@pytest.fixture(scope="module")
def shares(traced_alone) -> list[np.ndarray]:
    """Share of every token of the followed sequence in every other, after every layer."""
    maps = (layer.map.numpy() for layer in vector_rollout(traced_alone[FOLLOWED].layers))
    return [matrix / matrix.sum(axis=1, keepdims=True) for matrix in maps]


def test_shares_are_those_of_norms_of_vectors(batch, sequences, traced, shares):
    rows = sequence_vector_rollout.totals(batch).to_pandas()
    assert set(rows["seq"]) == {FOLLOWED}
    types = [TOKEN_TYPES[kind] for kind in sequences[FOLLOWED].token_types]
    causal = traced.layers[0].weights.is_causal
    for depth, group in rows.groupby("layer"):
        expected = reference.shares(shares[depth].tolist(), types, causal=causal)
        found = {(row.token_type, row.distance): row.share for row in group.itertuples()}
        assert found == pytest.approx(expected, rel=1e-5)


def test_agreement_is_the_rank_correlation_of_all_pairs(batch, traced, shares):
    rows = sequence_vector_agreement.totals(batch).to_pandas().set_index(["layer", "scope"])
    seen = traced.layers[0].weights.pairs(len(shares[0])).numpy()
    layers, scopes = batch.layer_mixing[FOLLOWED], batch.order.scopes
    for scope in (*scopes, ATTENTION_ROLLOUT):
        place = scopes.index("attn_w" if scope == ATTENTION_ROLLOUT else scope)
        maps = [layer.maps[place].tolist() for layer in layers]
        if scope == ATTENTION_ROLLOUT:
            maps = [reference.with_residual(matrix) for matrix in maps]
        for depth, share in enumerate(shares):
            product = np.array(reference.rollout(maps[: depth + 1]))
            expected = spearmanr(share[seen], product[seen])[0]
            assert rows["spearman"][depth, scope] == pytest.approx(expected, abs=1e-6)


def test_what_vectors_miss_is_kept_for_every_layer(batch, traced_alone):
    rows = vector_completeness.totals(batch).to_pandas()
    layers = vector_rollout(traced_alone[FOLLOWED].layers)
    assert rows["layer"].tolist() == list(range(len(layers)))
    assert (rows["relative_error"] < 1e-6).all()
    for bias_share, layer in zip(rows["bias_share"], layers, strict=True):
        parts = [
            [*row.tolist(), bias.item()] for row, bias in zip(layer.map, layer.bias, strict=True)
        ]
        assert bias_share == pytest.approx(np.mean([row[-1] / sum(row) for row in parts]), rel=1e-5)


def test_a_batch_without_followed_sequences_has_no_rows(sequences, traced):
    for statistic in (sequence_vector_rollout, sequence_vector_agreement, vector_completeness):
        rows = statistic.totals(Batch(sequences, traced))
        assert (rows.num_rows, rows.schema) == (0, statistic.TABLE.shard_schema)


def test_means_stand_beside_those_of_the_same_sequences(masked_store, layer_order):
    scopes = [VECTORS, *layer_order.scopes, ATTENTION_ROLLOUT]
    rows = table.shares(masked_store, scopes=scopes)
    assert list(rows["scope"].unique()) == scopes
    parts = {
        scope: masked_store.execute(
            "select seq, layer, token_type, distance, share from sequence_rollout "
            "where scope = $scope",
            {"scope": scope},
        ).df()
        for scope in scopes[1:]
    }
    parts[VECTORS] = masked_store.execute("from sequence_vector_rollout").df()
    for kind in ("token_type", "distance"):
        chosen = rows[rows[kind].notna()].set_index(["scope", "layer", kind]).sort_index()
        vectors = chosen.loc[VECTORS, "mean"]
        for scope, frame in parts.items():
            sums = frame.groupby(["layer", kind], observed=True)["share"].sum() / 3
            of_scope = chosen.loc[scope]
            np.testing.assert_allclose(of_scope["mean"].sort_index(), sums.sort_index(), rtol=1e-5)
            if scope == VECTORS:
                assert of_scope["difference"].isna().all()
            else:
                more = vectors - of_scope["mean"]
                np.testing.assert_allclose(of_scope["difference"], more, atol=1e-9)
                ends = (of_scope["difference_low"], of_scope["difference_high"])
                assert_ordered(ends[0], of_scope["difference"], ends[1])


def test_agreement_over_layers_is_the_mean_of_the_layers(masked_store, layer_order):
    rows = vector_agreement.by_layer(masked_store)
    assert set(rows["scope"]) == {*layer_order.scopes, ATTENTION_ROLLOUT}
    overall = rows[rows["layer"].isna()].set_index("scope")["spearman"]
    layers = rows[rows["layer"].notna()].groupby("scope")["spearman"].mean()
    assert overall.to_dict() == pytest.approx(layers.to_dict())


def test_agreement_of_a_layer_is_the_mean_of_its_sequences_and_stands_there_once(masked_store):
    rows = vector_agreement.by_layer(masked_store)
    assert not rows.duplicated(["layer", "scope"]).any()
    of_sequences = masked_store.execute(
        "select layer, scope::varchar as scope, spearman from sequence_vector_agreement"
    ).df()
    expected = of_sequences.groupby(["layer", "scope"])["spearman"].mean()
    found = rows[rows["layer"].notna()].astype({"layer": int, "scope": str})
    found = found.set_index(["layer", "scope"])["spearman"]
    assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-6)
    assert found[1].to_dict() != pytest.approx(found[2].to_dict(), rel=1e-3)
