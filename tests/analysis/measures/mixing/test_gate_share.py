import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from analysis.measures.mixing.activation_gate import GATES
from analysis.measures.mixing.gate_share import GATED, gate_share, gated_shares
from analysis.scopes import BIAS_READINGS, GATE_RULES
from tests.reference.mixing import gate_share as reference
from tests.reference.mixing.activation_gate import ACTIVATIONS

SIDES = st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5)
WIDE = torch.cat([torch.linspace(-40, 40, 801), torch.tensor([-1e4, -1e-9, 0, 1e-9, 1e4])]).double()


def _one(*numbers: float) -> list[Tensor]:
    return [torch.tensor([[number]], dtype=torch.float64) for number in numbers]


def _columns(sides: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [gate for gate, _ in sides], [value for _, value in sides]


def _given(factors: tuple[Tensor, ...], sides: list[tuple[float, float]]) -> list[float]:
    of_gate, of_value = (factor.item() for factor in factors)
    return [of_gate * gate + of_value * value for gate, value in sides]


@pytest.mark.parametrize("name", GATED)
@pytest.mark.parametrize("gate", [-25.0, -6.0, -2.1, -1.4, -0.3, 0.3, 1.6, 2.1, 6.0, 25.0])
def test_the_share_is_the_integral_of_its_definition(name, gate):
    share = gate_share(torch.tensor([gate], dtype=torch.float64), name).item()
    assert share == pytest.approx(reference.gate_share(gate, ACTIVATIONS[name]), abs=1e-6)


@pytest.mark.parametrize("name", GATED)
def test_shares_of_opposite_gates_add_up_to_a_half(name):
    there = WIDE[WIDE != 0] if name == "relu" else WIDE  # which has no slope at 0
    total = gate_share(there, name) + gate_share(-there, name)
    torch.testing.assert_close(total, torch.full_like(there, 0.5), rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", GATED)
def test_the_share_does_not_jump_where_the_formula_changes(name):
    for edge in (-20.0, -2.0, -1.5, 1.5, 2.0, 20.0):
        near = edge * (1 + torch.tensor([-1e-9, 0.0, 1e-9], dtype=torch.float64))
        shares = gate_share(near, name)
        torch.testing.assert_close(shares, shares[1].expand(3), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", GATED)
def test_float32_follows_float64(name):
    narrow = gate_share(WIDE.float(), name).double()
    torch.testing.assert_close(narrow, gate_share(WIDE, name), rtol=0, atol=5e-8)


@pytest.mark.parametrize("name", [name for name in GATED if name != "relu"])
@given(sides=SIDES)
def test_shares_are_those_of_integrated_gradients(name, sides):
    sums = _one(*(sum(column) for column in zip(*sides, strict=True)))
    factors, _ = gated_shares(sums, _one(0, 0), name)
    expected = reference.shares(*_columns(sides), ACTIVATIONS[name], steps=300)
    assert _given(factors, sides) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", GATED)
@given(sides=SIDES)
def test_half_goes_to_each_side_of_the_product(name, sides):
    sums = [sum(column) for column in zip(*sides, strict=True)]
    assume(min(map(abs, sums)) > 1e-3)
    factors, _ = gated_shares(_one(*sums), _one(0, 0), name, rule="half")
    expected = reference.half_shares(*_columns(sides), ACTIVATIONS[name])
    assert _given(factors, sides) == pytest.approx(expected, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in GATED if name != "relu"])
@pytest.mark.parametrize("reading", BIAS_READINGS)
def test_every_reading_of_the_bias_is_its_own_path(name, reading):
    sides, bias = [(0.9, -0.4), (-0.5, 1.3), (1.1, 0.2)], (-0.7, 0.6)
    sent = [sum(column) for column in zip(*sides, strict=True)]
    sums = [total + silent for total, silent in zip(sent, bias, strict=True)]
    factors, rest = gated_shares(_one(*sums), _one(*bias), name, reading=reading)
    players = [*sides, bias] if reading == "player" else sides
    start = bias if reading == "constant" else (0.0, 0.0)
    expected = reference.shares(*_columns(players), ACTIVATIONS[name], start=start)
    assert _given(factors, sides) == pytest.approx(expected[:3], abs=1e-5)
    product = ACTIVATIONS[name](sums[0]) * sums[1]
    assert rest.item() == pytest.approx(product - sum(expected[:3]), abs=1e-5)


@pytest.mark.parametrize("rule", GATE_RULES)
@pytest.mark.parametrize("reading", BIAS_READINGS)
@pytest.mark.parametrize("name", GATED)
def test_all_of_the_product_is_shared_out(name, reading, rule):
    torch.manual_seed(0)
    tokens, bias = torch.randn(2, 4, 5, 6, dtype=torch.float64) * 3
    sums = tokens + bias
    factors, rest = gated_shares(list(sums[:2]), list(bias[:2]), name, reading=reading, rule=rule)
    given = sum(factor * side for factor, side in zip(factors, tokens[:2], strict=True))
    product = GATES[name](sums[0]) * sums[0] * sums[1]
    torch.testing.assert_close(given + rest, product, rtol=1e-12, atol=1e-12)


def test_rules_part_where_gates_are_closed_and_are_one_where_they_are_linear():
    open_gate, closed = torch.tensor([[40.0]]).double(), torch.tensor([[-3.0]]).double()
    value = torch.tensor([[2.0]]).double()
    for gate, parts in ((open_gate, False), (closed, True)):
        by_rule = [
            gated_shares([gate, value], _one(0, 0), "silu", rule=rule)[0] for rule in GATE_RULES
        ]
        distance = max((a - b).abs().item() / b.abs().item() for a, b in zip(*by_rule, strict=True))
        assert (distance > 0.1) == parts


def test_a_side_that_is_nothing_is_no_division_by_nothing():
    for rule in GATE_RULES:
        for sides in ((0.0, 2.0), (2.0, 0.0), (0.0, 0.0)):
            factors, rest = gated_shares(_one(*sides), _one(0, 0), "silu", rule=rule)
            assert all(part.isfinite().all() for part in (*factors, rest))
