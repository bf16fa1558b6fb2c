"""Activations and gated products shared out among the summands of their input."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from analysis.measures.mixing.activation_gate import GATES, Activation, Xielu, activation_gate
from analysis.measures.mixing.gate_share import GATED, gate_share, gated_shares

XIELU = Xielu(positive=0.9, negative=0.6, beta=0.5)
ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda hidden: functional.gelu(hidden, approximate="tanh"),
    "quick_gelu": lambda hidden: hidden * torch.sigmoid(1.702 * hidden),
    "quick_gelu_clamped": lambda hidden: (
        hidden.clamp(max=7) * torch.sigmoid(1.702 * hidden.clamp(max=7))
    ),
    "relu": functional.relu,
    "relu_squared": lambda hidden: functional.relu(hidden).square(),
    "silu": functional.silu,
    "tanh": torch.tanh,
    XIELU: lambda h: 0.5 * h + torch.where(h > 0, 0.9 * h * h, 0.6 * (torch.expm1(h) - h)),
}
OTHER_SIDES: dict[Activation, Callable[[Tensor], Tensor]] = {
    "quick_gelu_clamped": lambda value: value.clamp(-6, 8)
}
"""Factors of activations, 1 being part of the bias, where the factor is not u itself."""
CLAMPED = "quick_gelu_clamped"
Sides = list[tuple[float, float]]


def slope(activation: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    point = at.detach().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(activation(point).sum(), point)
    return gradient


def twin(sides: Sides, name: Activation, *, start: tuple[float, float] = (0.0, 0.0)) -> list[float]:
    """Integrated Gradients of activation(g) · u by sums over the path, for summands of g and u.

    Source: sundararajan-2017, section 3.
    """
    gates, values = torch.tensor(sides, dtype=torch.float64).T
    places = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    gate, value = start[0] + places * gates.sum(), start[1] + places * values.sum()
    activation, other = ACTIVATIONS[name], OTHER_SIDES.get(name, torch.clone)
    of_gate = slope(activation, gate) * other(value)
    of_value = activation(gate) * slope(other, value)
    return (of_gate.mean() * gates + of_value.mean() * values).tolist()


def shared_out(name: Activation, sides: Sides) -> tuple[list[float], Tensor]:
    """Shares of the summands of both sides in their product, and the sums of both sides."""
    sums = torch.tensor(sides, dtype=torch.float64).sum(dim=0)
    gate, value = sums.view(2, 1, 1)
    of_gate, of_value = (of.item() for of in gated_shares(gate, value, name))
    return [of_gate * gate + of_value * value for gate, value in sides], sums


WIDE = torch.cat([torch.linspace(-40, 40, 801), torch.tensor([-1e4, -1e-9, 0, 1e-9, 1e4])]).double()


@pytest.mark.parametrize("name", ACTIVATIONS, ids=str)
@settings(max_examples=30)
@given(summands=st.lists(st.floats(-3, 3), min_size=1, max_size=5))
def test_shares_are_those_of_integrated_gradients(name, summands):
    assume(abs(sum(summands)) > 1e-9)  # at 0 a ReLU's gate leaps, and rounding decides the side
    gate = activation_gate(torch.tensor([sum(summands)], dtype=torch.float64), name).item()
    expected = twin([(summand, 0.0) for summand in summands], name, start=(0.0, 1.0))
    near = 1e-3 if name == CLAMPED else 1e-5  # it bends within a step of the twin
    assert [gate * summand for summand in summands] == pytest.approx(expected, abs=near)


@pytest.mark.parametrize("name", GATES)
def test_shares_add_up_to_the_activation_in_either_format(name):
    hidden = torch.linspace(-30, 30, 1201, dtype=torch.float64)
    gate = activation_gate(hidden, name)
    torch.testing.assert_close(gate * hidden, ACTIVATIONS[name](hidden))
    narrow = activation_gate(hidden.float(), name).double()
    torch.testing.assert_close(narrow, gate, atol=1e-6, rtol=1e-5)


def test_at_nothing_the_gate_is_the_limit_and_no_nan():
    limits = {name: activation_gate(torch.zeros(1), name).item() for name in ACTIVATIONS}
    others = {"relu": 0.0, "relu_squared": 0.0, "tanh": 1.0}
    assert limits == dict.fromkeys((*GATES, XIELU), 0.5) | others, "each has a twin"


@pytest.mark.parametrize("name", [name for name in GATED if name != CLAMPED])
def test_shares_of_opposite_gates_add_up_to_a_half_without_jumps_in_either_format(name):
    there = WIDE[WIDE != 0] if name == "relu" else WIDE  # which has no slope at 0
    total = gate_share(there, name) + gate_share(-there, name)
    torch.testing.assert_close(total, torch.full_like(there, 0.5), rtol=0, atol=1e-15)
    for edge in (-20.0, -2.0, -1.5, 1.5, 2.0, 20.0):
        near = edge * (1 + torch.tensor([-1e-9, 0.0, 1e-9], dtype=torch.float64))
        shares = gate_share(near, name)
        torch.testing.assert_close(shares, shares[1].expand(3), rtol=1e-7, atol=1e-12)
    narrow = gate_share(WIDE.float(), name).double()
    torch.testing.assert_close(narrow, gate_share(WIDE, name), rtol=0, atol=5e-8)


@pytest.mark.parametrize("name", [name for name in GATED if name != "relu"])
@settings(max_examples=30)
@given(sides=st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5))
def test_products_are_shared_out_by_integrated_gradients(name, sides):
    near = 1e-2 if name == CLAMPED else 1e-5  # it bends within a step of the twin
    assert shared_out(name, sides)[0] == pytest.approx(twin(sides, name), abs=near)


def test_beyond_the_limits_of_a_clamped_product_its_path_bends():
    """The gate is above its limit, the other side above its own, or both are."""
    for sides in ([(5.0, 2.0), (6.0, -1.0)], [(2.0, 7.0), (-1.0, 4.0)], [(3.0, -9.0), (9.0, 1.0)]):
        shares, sums = shared_out(CLAMPED, sides)
        product = ACTIVATIONS[CLAMPED](sums[0]) * OTHER_SIDES[CLAMPED](sums[1])
        assert sum(shares) == pytest.approx(product.item(), abs=1e-12)
        assert shares == pytest.approx(twin(sides, CLAMPED), abs=2e-3)
