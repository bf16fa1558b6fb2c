"""Attribution of a feed-forward activation to the summands of its input, bias included."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

Gate = Callable[[Tensor], Tensor]


def _gelu_tanh(hidden: Tensor) -> Tensor:
    return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))


def _tanh(hidden: Tensor) -> Tensor:
    return torch.where(hidden == 0, 1.0, torch.tanh(hidden) / hidden)


@dataclass(frozen=True)
class Xielu:
    """Activation with learned sizes: beta · h + positive · h² for h > 0, else beta · h +
    negative · (e^h − 1 − h); see arXiv 2411.13010."""

    positive: float
    negative: float
    beta: float

    def __str__(self) -> str:
        return "xielu"

    def __call__(self, hidden: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """The activation over h."""
        below = hidden.clamp_max(0)
        curve = torch.where(below < 0, (below.expm1() - below) / below, 0)
        return self.beta + self.positive * hidden.clamp_min(0) + self.negative * curve


Activation = str | Xielu
"""A key of `GATES`, or an activation with numbers of its own."""


LIMITS: dict[Activation, float] = {"quick_gelu_clamped": 7.0}
"""Activations whose input is clamped from above, and the limit. In a gated product the other side
is clamped to ± the limit as well, before 1 is added to it; the 1 is part of its bias."""


def limit_gate(
    hidden: Float[Tensor, "*any hidden"], activation: Activation
) -> Float[Tensor, "*any hidden"]:
    """min(h, limit) / h where h is above the activation's limit, else 1.

    Source:
        sundararajan-2017, section 3.
    """
    limit = LIMITS[activation]
    return limit / hidden.clamp(min=limit)


def _quick_gelu(hidden: Tensor) -> Tensor:
    return torch.sigmoid(1.702 * hidden)


def _quick_gelu_clamped(hidden: Tensor) -> Tensor:
    name = "quick_gelu_clamped"
    return limit_gate(hidden, name) * _quick_gelu(hidden.clamp(max=LIMITS[name]))


GATES: dict[str, Gate] = {
    "gelu": torch.special.ndtr,
    "gelu_tanh": _gelu_tanh,
    "quick_gelu": _quick_gelu,
    "quick_gelu_clamped": _quick_gelu_clamped,
    "relu": lambda hidden: (hidden > 0).to(hidden.dtype),
    "relu_squared": torch.relu,
    "silu": torch.sigmoid,
    "tanh": _tanh,
}
"""Every covered activation; each is 0 at 0, so its shares leave nothing to the bias."""


def gate_of(activation: Activation) -> Gate:
    """Return the activation over h.

    Source:
        kobayashi-2024, section 4.2.
    """
    return GATES[activation] if isinstance(activation, str) else activation


def activation_gate(
    hidden: Float[Tensor, "*any hidden"], activation: Activation
) -> Float[Tensor, "*any hidden"]:
    """g = activation(h) / h, the factor by which each summand of h is passed on.

    Integrated Gradients of an element-wise activation along the straight path from 0 to h gives the
    summand p the share p · ∫ activation'(t h) dt = p · (activation(h) − activation(0)) / h.

    Returns:
        Factors without unit; Σ p = h makes the shares add up to activation(h).

    Source:
        kobayashi-2024, section 4.2; the factor itself is modarressi-2023's slope from zero.

    Differs:
        The first paper integrates numerically; here the integral is in closed form, which the
        second uses as an approximation of the activation, without an integral.
    """
    return gate_of(activation)(hidden)


def active(hidden: Float[Tensor, "*any"], activation: Activation) -> Float[Tensor, "*any"]:
    """activation(h).

    Source:
        sundararajan-2017, section 3.
    """
    return gate_of(activation)(hidden) * hidden


def multiplied(value: Float[Tensor, "*any"], activation: Activation) -> Float[Tensor, "*any"]:
    """Other side of an activation's gated product: u itself, clamped where there is a limit.

    Source:
        sundararajan-2017, section 3.
    """
    limit = LIMITS.get(activation)
    return value if limit is None else value.clamp(1 - limit, 1 + limit)
