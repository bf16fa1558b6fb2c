import pytest
import torch

from analysis.measures.mixing.activation_gate import GATES
from analysis.measures.mixing.activation_gate import activation_shares as shared_out
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.scopes import BIAS_READINGS
from tests.analysis.measures.mixing.test_layer_mixing import in_float32
from tests.reference.mixing import bias_reading as reference
from tests.reference.mixing.activation_gate import ACTIVATIONS

SUMMANDS = [0.9, -0.4, 1.3]


@pytest.mark.parametrize("reading", BIAS_READINGS)
@pytest.mark.parametrize("activation", GATES)
@pytest.mark.parametrize("bias", [-0.7, 0.2, 1.1])
def test_every_reading_is_its_own_path_of_the_integral(reading, activation, bias):
    hidden, silent = (torch.tensor([[value]]).double() for value in (sum(SUMMANDS) + bias, bias))
    gate, rest = shared_out(hidden, silent, activation, reading=reading)
    given, left = reference.shares(SUMMANDS, bias, ACTIVATIONS[activation], reading=reading)
    assert [gate.item() * summand for summand in SUMMANDS] == pytest.approx(given, abs=1e-3)
    assert rest.item() == pytest.approx(left, abs=1e-3)


@pytest.mark.parametrize("reading", BIAS_READINGS)
@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "silu", "tanh"])
def test_gates_do_not_jump_where_tokens_or_all_cancel(reading, activation):
    """Tokens that add up to nothing, or that undo the bias, are no division by 0."""
    for bias in (-0.8, 0.0, 0.8):
        for sent in (0.0, -bias):
            silent = torch.full((1, 3), bias).double()
            near = silent + sent + torch.tensor([[-1e-5, 0.0, 1e-5]]).double()
            gate, _ = shared_out(near, silent, activation, reading=reading)
            assert gate.isfinite().all()
            torch.testing.assert_close(gate[0, 0], gate[0, 2], rtol=1e-3, atol=1e-4)
            torch.testing.assert_close(gate[0, 0], gate[0, 1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("reading", BIAS_READINGS)
def test_every_layer_is_complete_under_every_reading(traced_alone, reading):
    for trace in traced_alone:
        for layer in trace.layers:
            assert layer_mixing(layer, bias_reading=reading).errors.max() < 1e-6
            assert layer_mixing(in_float32(layer), bias_reading=reading).errors.max() < 1e-4


def test_readings_part_at_the_network_and_nowhere_before(traced_alone):
    layer = traced_alone[0].layers[0]
    ours, *others = (layer_mixing(layer, bias_reading=reading).maps for reading in BIAS_READINGS)
    place = layer.weights.order.scopes.index(layer.weights.order.network)
    for maps in others:
        torch.testing.assert_close(maps[:place], ours[:place])
        assert (maps[place] - ours[place]).abs().max() > 1e-2


def test_without_a_bias_all_readings_are_one():
    hidden = torch.linspace(-3, 3, 7, dtype=torch.float64)[None]
    for activation in GATES:
        gates = [
            shared_out(hidden, torch.zeros_like(hidden), activation, reading=reading)
            for reading in BIAS_READINGS
        ]
        for gate, rest in gates:
            chosen = hidden != 0  # at its kink ReLU has no slope
            torch.testing.assert_close(gate[chosen], gates[0][0][chosen])
            torch.testing.assert_close(rest, torch.zeros_like(rest), rtol=0, atol=1e-12)
