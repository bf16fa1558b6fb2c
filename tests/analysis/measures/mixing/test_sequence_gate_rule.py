import dataclasses

import pytest

from analysis.measures.mixing.linear_layer import closed_share, linear_layer
from analysis.models.trace import LayerTrace
from tests.reference.mixing import sequence_gate_rule as reference
from tests.reference.mixing.activation_gate import ACTIVATIONS

gated = pytest.mark.parametrize("family", ["llama", "gemma2"], indirect=True, scope="session")


def _moved(layer: LayerTrace, by: float) -> LayerTrace:
    """The same layer with all gates shifted."""
    forward = layer.weights.feed_forward
    assert forward.gate_bias is not None
    moved = dataclasses.replace(forward, gate_bias=forward.gate_bias + by)
    return dataclasses.replace(
        layer, weights=dataclasses.replace(layer.weights, feed_forward=moved)
    )


@gated
def test_closed_gates_are_those_that_the_slow_twin_counts(traced_alone):
    for layer in (layer for trace in traced_alone for layer in trace.layers):
        gates = linear_layer(layer).network.hidden[0].tolist()
        activation = ACTIVATIONS[layer.weights.feed_forward.activation]
        assert closed_share(layer) == pytest.approx(reference.closed_share(gates, activation))


@gated
def test_all_gates_are_closed_where_they_are_moved_far_down_and_none_far_up(traced_alone):
    layer = traced_alone[0].layers[0]
    assert closed_share(_moved(layer, -100.0)) == 1
    assert closed_share(_moved(layer, 100.0)) == 0
