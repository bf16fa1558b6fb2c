"""Attribution of a gated product to the summands of its two factors."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import (
    GATES,
    LIMITS,
    Activation,
    active,
    gate_of,
    limit_gate,
    multiplied,
)

_SERIES_TERMS, _TERMS_OF_FLOAT32 = 30, 14
_FAR = 20.0
"""Beyond ±20 every gate is 0 or 1 to the last digit."""
_POINTS, _POINT_WEIGHTS = (values / 2 for values in np.polynomial.legendre.leggauss(32))
_NODES = tuple(zip((_POINTS + 0.5).tolist(), _POINT_WEIGHTS.tolist(), strict=True))
"""Nodes from 0 to 1 and their weights, by Gauss–Legendre quadrature."""


def gate_share(
    gate: Float[Tensor, "*any hidden"], activation: Activation
) -> Float[Tensor, "*any hidden"]:
    """φ(g) = ∫ t · gate(t g) dt from 0 to 1, gate(h) = activation(h) / h.

    Above a limit L that the activation's input is clamped to, activation(g) stays what it is at L:
    φ(g) = r² φ(L) + (r − r²) gate(L) with r = L/g.

    Returns:
        0 to ½ where the gate is 0 to 1; φ(g) + φ(−g) = ½ without a limit, or below it.

    Source:
        sundararajan-2017, section 3; the closed forms are ours.
    """
    negative, half = -gate.abs(), gate.new_tensor(0.5)
    closed = _CLOSED[str(activation)](negative)
    share = torch.where(gate > 0, half - closed, closed)
    if activation not in LIMITS:
        return share
    kept, limit = limit_gate(gate, activation), gate.new_tensor([LIMITS[activation]])
    below = half - _CLOSED[str(activation)](-limit)
    beyond = kept.square() * below + (kept - kept.square()) * gate_of(activation)(limit)
    return torch.where(gate > limit, beyond, share)


def gated_shares(
    gate: Float[Tensor, "query hidden"],
    value: Float[Tensor, "query hidden"],
    activation: Activation,
) -> tuple[Float[Tensor, "query hidden"], Float[Tensor, "query hidden"]]:
    """Factors of the summands of g and of those of u in activation(g) ⊙ u.

    Integrated Gradients along the straight path from 0 to g and u gives u (gate(g) − φ(g))
    for g and g φ(g) for u, which attributes the whole product to tokens and biases.

    Source:
        sundararajan-2017, section 3.
    """
    if activation not in LIMITS:
        share = gate_share(gate, activation)
        return value * (gate_of(activation)(gate) - share), gate * share
    held = multiplied(value, activation)  # reached at this part of the path:
    reached = torch.where(value == held, 1.0, held / value)
    share = reached.square() * gate_share(reached * gate, activation)
    return held * gate_of(activation)(gate) - value * share, gate * share


def product(
    gate: Float[Tensor, "*any hidden"], value: Float[Tensor, "*any hidden"], activation: Activation
) -> Float[Tensor, "*any hidden"]:
    """activation(g) ⊙ u, with u clamped where the activation has a limit.

    Source:
        sundararajan-2017, section 3.
    """
    return active(gate, activation) * multiplied(value, activation)


def _silu(negative: Tensor) -> Tensor:
    """F(g) / g² with F(g) = g ln(1 + eᵍ) + Li₂(−eᵍ) + π²/12; near 0 its series."""
    wave = negative.exp()
    terms = [(-1) ** k / k**2 for k in range(1, _SERIES_TERMS)]
    dilogarithm = wave * _polynomial(wave, terms)
    integral = negative * wave.log1p() + dilogarithm + math.pi**2 / 12
    return _joined(negative, integral, near=1.5, odd=_SILU_SERIES)


def _quick_gelu(negative: Tensor) -> Tensor:
    """φ of SiLU at 1.702 g, since the gate is SiLU's there."""
    return _silu(1.702 * negative)


def _gelu(negative: Tensor) -> Tensor:
    """F(g) / g² with F(g) = ½ (g² − 1) Φ(g) + ½ g n(g) + ¼, n the normal density."""
    density = (-negative.square() / 2).exp() / math.sqrt(2 * math.pi)
    below = torch.special.ndtr(negative)
    integral = ((negative.square() - 1) * below + negative * density) / 2 + 0.25
    return _joined(negative, integral, near=2.0, odd=_GELU_SERIES)


def _gelu_tanh(negative: Tensor) -> Tensor:
    """φ by quadrature; where the gate is closed the integral over g has converged."""
    near = negative.clamp_min(-_FAR)
    integral = sum(weight * at * GATES["gelu_tanh"](at * near) for at, weight in _NODES)
    return torch.as_tensor(integral) * (_FAR / negative.abs().clamp_min(_FAR)).square()


def _joined(negative: Tensor, integral: Tensor, *, near: float, odd: Sequence[float]) -> Tensor:
    """¼ + g · (a polynomial of g²) near 0, where F(g) / g² would lose its digits."""
    small = negative.clamp_min(-near)
    series = 0.25 + small * _polynomial(small.square(), odd)
    return torch.where(negative > -near, series, integral / negative.clamp_max(-near).square())


def _polynomial(at: Tensor, coefficients: Sequence[float]) -> Tensor:
    kept = coefficients if at.dtype is torch.float64 else coefficients[:_TERMS_OF_FLOAT32]
    total = torch.full_like(at, kept[-1])
    for coefficient in reversed(kept[:-1]):
        total.mul_(at).add_(coefficient)
    return total


def _integrated(odd: Sequence[float]) -> list[float]:
    """∫ t · Σ c_k (t g)^(2k + 1) dt, without the g in front."""
    return [coefficient / (2 * k + 3) for k, coefficient in enumerate(odd)]


def _half_tanh_of_half(n_terms: int) -> list[float]:
    """Odd Taylor coefficients of y = ½ tanh(s / 2), by recurrence from y′ = ¼ − y²."""
    coefficients = [0.25]
    for k in range(1, n_terms):
        square = sum(coefficients[i] * coefficients[k - 1 - i] for i in range(k))
        coefficients.append(-square / (2 * k + 1))
    return coefficients


_SILU_SERIES = _integrated(_half_tanh_of_half(_SERIES_TERMS))
_GELU_SERIES = _integrated(
    [
        (-1) ** k / (math.sqrt(2 * math.pi) * 2**k * math.factorial(k) * (2 * k + 1))
        for k in range(_SERIES_TERMS)
    ]
)
_CLOSED: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": _silu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "relu": torch.zeros_like,
    "quick_gelu_clamped": _quick_gelu,
}
"""φ where g ≤ 0."""
GATED = tuple(_CLOSED)
"""Covered activations of gates."""
