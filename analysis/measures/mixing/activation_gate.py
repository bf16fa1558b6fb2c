"""Attribution of a feed-forward activation to the summands of its input."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Gate = Callable[[Tensor], Tensor]


def _gelu_tanh(hidden: Tensor) -> Tensor:
    return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))


def _tanh(hidden: Tensor) -> Tensor:
    return torch.where(hidden == 0, 1.0, torch.tanh(hidden) / hidden)


GATES: dict[str, Gate] = {
    "gelu": torch.special.ndtr,
    "gelu_tanh": _gelu_tanh,
    "relu": lambda hidden: (hidden > 0).to(hidden.dtype),
    "silu": torch.sigmoid,
    "tanh": _tanh,
}
"""Every covered activation; each is 0 at 0, so its shares leave nothing to the bias."""


def activation_gate(
    hidden: Float[Tensor, "*any hidden"], activation: str
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
    return GATES[activation](hidden)
