"""Gates after attention: ‖f(x)‖ is of a pair, in everything that weighs attention by norms."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.heads.head_distances import head_distances
from analysis.measures.mixing.layer_mixing import attention_mixing, layer_mixing
from analysis.measures.norms.joint_histogram import NORM_BINS_PER_OCTAVE, bins
from analysis.sinks import FIRST
from analysis.statistics import norms, sinks
from analysis.statistics.base.weighing import NORM
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from precompute.passes.layers import Layer
from tests.statistics.mixing import slow_layers
from tests.tracing import layers_of, rows_of_table

pytestmark = pytest.mark.parametrize("family", ["afmoe"], indirect=True, scope="session")


def by_head(layer: Layer) -> Layer:
    """The layer with one factor for all coordinates of a head."""
    gate = layer.weights.gate
    assert gate is not None
    one = replace(gate, weight=gate.weight[..., :1], bias=gate.bias[..., :1])
    trace = replace(layer.trace, weights=replace(layer.weights, gate=one))
    return Layer(layer.batch, layer.index, trace)


def lengths_of(layer: Layer, row: int) -> np.ndarray:
    """‖(gate of the query ⊙ value of the key) W_O‖, by head, query and key, one after the other."""
    read, weights = layer.alone(row).attention_input[0], layer.weights
    gates = slow_layers.slow_gates(layer.alone(row))
    lengths = np.empty((len(gates), len(read), len(read)))
    for head, query, key in np.ndindex(lengths.shape):
        value = read[key] @ weights.value_weight[head] + weights.value_bias[head]
        sent = (gates[head, query] * value) @ weights.output_weight[head]
        lengths[head, query, key] = float(sent.square().sum().sqrt())
    return lengths


@pytest.fixture(scope="module")
def gated(tiny, sequences) -> list[Layer]:
    """Layers with a gate for every coordinate, and with one for every head."""
    layers = layers_of(tiny, sequences)
    return [*layers, *map(by_head, layers)]


def test_weighed_attention_is_that_of_the_vectors_of_pairs(gated, sequences):
    for layer in gated:
        assert layer.value_norms.isnan().all()
        for row in range(len(sequences)):
            lengths = lengths_of(layer, row)
            n = lengths.shape[-1]
            np.testing.assert_allclose(layer.pair_norms[row, :, :n, :n], lengths)
            arriving = layer.attention[row, :, :n, :n].numpy() * lengths
            shares = arriving / arriving.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(layer.weighed_alone(row, NORM), shares)


def test_mixing_with_one_gate_for_a_head_is_that_of_the_vectors_of_pairs(gated):
    for layer in gated:
        alone = layer.alone(1)
        scopes, order = slow_layers.norms(alone), layer.weights.order
        mixing = layer_mixing(alone)
        for place, scope in enumerate(order.scopes):
            # what a whole output says of the deviations is no output of another gate
            if layer.weights.gate.weight.shape[-1] > 1 or scope in order.scopes[:2]:
                torch.testing.assert_close(mixing.maps[place], scopes[scope])
        if layer.weights.gate.weight.shape[-1] > 1:
            block = scopes[order.attention_block]
            torch.testing.assert_close(attention_mixing(alone), block)


def test_pairs_are_counted_and_drawn_with_their_own_norms(tiny, sequences, gated):
    rows = rows_of_table(norms.ATTENTION_NORM_HISTOGRAM, tiny, sequences).to_pandas()
    drawn = rows_of_table(norms.ATTENTION_NORM_SAMPLE, tiny, sequences).to_pandas()
    assert len(drawn) > 100
    for layer in gated[: len(tiny.layers)]:
        counted = np.zeros(0, dtype=np.int64)
        for row, sequence in enumerate(sequences):
            lengths = lengths_of(layer, row)
            seen = layer.weights.pairs(len(sequence)).numpy()
            found = bins(torch.from_numpy(lengths[:, seen]), per_octave=NORM_BINS_PER_OCTAVE)
            counted = np.append(counted, found.numpy().ravel())
            here = drawn[
                (drawn["layer"] == layer.weights.number) & (drawn["seq"] == sequence.index)
            ]
            places = here["head"] - 1, here["query_pos"], here["key_pos"]
            np.testing.assert_allclose(here["value_norm"], lengths[places], rtol=1e-5)
        of_layer = rows[rows["layer"] == layer.weights.number].groupby("norm_bin")["n"].sum()
        values, counts = np.unique(counted, return_counts=True)
        near = np.interp(of_layer.index, values, counts.cumsum())  # float32 may be a bin away
        assert abs(near - of_layer.cumsum()).max() <= 0.01 * counts.sum()


def test_sinks_have_shares_by_norms_and_no_norms_of_tokens(tiny, sequences, gated):
    rows = rows_of_table(sinks.SEQUENCE_SINK, tiny, sequences).to_pandas()
    assert rows["value_norm"].isna().all()
    assert rows["relative_norm"].isna().all()
    first = rows[(rows["place"] == FIRST) & (rows["layer"] == 2)].set_index(["seq", "head"])
    for row, sequence in enumerate(sequences):
        shares = gated[1].weighed_alone(row, NORM)[:, :, 0].mean(dim=1)
        for head, share in enumerate(shares.tolist(), 1):
            found = first.loc[(sequence.index, head), "norm_share"]
            assert found == pytest.approx(share, rel=1e-5)


def test_tokens_have_no_rows_of_their_own_norms(tiny, sequences):
    assert not len(rows_of_table(norms.HEAD_TOKEN, tiny, sequences))


def test_heads_are_compared_by_the_norms_of_their_pairs(tiny, sequences, gated):
    rows = rows_of_table(HEAD_DISTANCE, tiny, sequences[1:2]).to_pandas()
    of_layer = (rows["layer_a"] == 2) & (rows["layer_b"] == 2) & (rows["weighing"] == NORM)
    found = rows[of_layer].set_index(["head_a", "head_b"])["divergence"]
    shares = gated[1].weighed_alone(1, NORM)
    expected = head_distances(shares, gated[1].weights.pairs(shares.shape[-1]))
    for (one, other), divergence in found.items():
        assert divergence == pytest.approx(expected[one - 1, other - 1], rel=1e-4, abs=1e-6)
