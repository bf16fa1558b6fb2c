"""sundararajan-2017: Integrated Gradients of one coordinate, the derivative by differences."""

import math
from collections.abc import Callable

ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "gelu": lambda h: h * 0.5 * (1 + math.erf(h / math.sqrt(2))),
    "gelu_tanh": lambda h: (
        0.5 * h * (1 + math.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    ),
    "relu": lambda h: max(h, 0.0),
    "silu": lambda h: h / (1 + math.exp(-h)),
    "tanh": math.tanh,
}


def shares(
    summands: list[float], activation: Callable[[float], float], steps: int = 2000
) -> list[float]:
    """Share of each summand of h in activation(h), along the straight path from 0 to h.

    The differences are half a step wide, so that none of them crosses 0, where a ReLU bends.
    """
    hidden = sum(summands)
    width = abs(hidden) / (4 * steps)
    slope = 0.0
    for step in range(steps):
        at = hidden * (step + 0.5) / steps
        slope += (activation(at + width) - activation(at - width)) / (2 * width) / steps
    return [slope * summand for summand in summands]
