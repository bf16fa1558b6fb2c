import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.measures.mixing.activation_gate import GATES, activation_gate
from tests.reference.mixing import activation_gate as reference
from tests.reference.mixing.linear_layer import ACTIVATIONS

SUMMANDS = st.lists(st.floats(-3, 3), min_size=1, max_size=5)
EITHER_SIDE = (1.0, 2e-3, 1e-9, -1e-9, -2e-3, -1.0)


@pytest.mark.parametrize("name", GATES)
@given(summands=SUMMANDS)
def test_shares_are_those_of_integrated_gradients(name, summands):
    assume(abs(sum(summands)) > 1e-9)  # at 0 a ReLU's gate leaps, and rounding decides the side
    hidden = torch.tensor([sum(summands)], dtype=torch.float64)
    gate = activation_gate(hidden, name).item()
    expected = reference.shares(summands, reference.ACTIVATIONS[name])
    assert [gate * summand for summand in summands] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("hidden", EITHER_SIDE)
def test_the_gate_of_a_relu_is_decided_by_the_side_however_close_to_nothing(hidden):
    closed = activation_gate(torch.tensor([hidden], dtype=torch.float64), "relu").item()
    (share,) = reference.shares([hidden], reference.ACTIVATIONS["relu"])
    assert closed == float(hidden > 0)
    assert share / hidden == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("name", GATES)
def test_shares_add_up_to_the_activation(name):
    hidden = torch.linspace(-30, 30, 1201, dtype=torch.float64)
    torch.testing.assert_close(activation_gate(hidden, name) * hidden, ACTIVATIONS[name](hidden))


@pytest.mark.parametrize(
    ("name", "limit"),
    [("gelu", 0.5), ("gelu_tanh", 0.5), ("relu", 0.0), ("silu", 0.5), ("tanh", 1.0)],
)
def test_at_nothing_the_gate_is_the_limit_and_no_nan(name, limit):
    assert activation_gate(torch.zeros(1), name).item() == limit


@pytest.mark.parametrize("name", GATES)
def test_float32_follows_float64(name):
    hidden = torch.linspace(-20, 20, 4001, dtype=torch.float64)
    narrow = activation_gate(hidden.float(), name).double()
    torch.testing.assert_close(narrow, activation_gate(hidden, name), atol=1e-6, rtol=1e-5)


def test_every_activation_has_both_twins():
    assert set(GATES) == set(ACTIVATIONS) == set(reference.ACTIVATIONS)
