"""Gates after attention: ‖f(x)‖ is of a pair, in everything that weighs attention by norms."""

from dataclasses import replace

import pytest
import torch

from analysis.measures.mixing.layer_mixing import attention_mixing, layer_mixing
from analysis.statistics import norms
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


@pytest.fixture(scope="module")
def gated(tiny, sequences) -> list[Layer]:
    """Layers with a gate for every coordinate, and with one for every head."""
    layers = layers_of(tiny, sequences)
    return [*layers, *map(by_head, layers)]


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


def test_tokens_have_no_rows_of_their_own_norms(tiny, sequences):
    assert not len(rows_of_table(norms.HEAD_TOKEN, tiny, sequences))
