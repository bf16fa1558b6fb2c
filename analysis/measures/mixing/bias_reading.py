"""Ways of reading the bias where an activation is shared out among the summands of its input."""

from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import GATES, activation_gate

_STEP = 1e-4
"""Half of the least distance that a slope is taken over; below, rounding would show."""


def shared_out(
    hidden: Float[Tensor, "query hidden"],
    bias: Float[Tensor, "query hidden"],
    activation: str,
    *,
    reading: str,
) -> tuple[Float[Tensor, "query hidden"], Float[Tensor, "query hidden"]]:
    """The gate of tokens' summands of h, and the part of the output that belongs to no token.

    Integrated Gradients needs a path. With h = s + b, s from tokens and b from biases, there are
    three: from 0 to h, the bias being one more summand (`player`, as everywhere else); from b to h,
    the bias being present all along (`constant`); from 0 to s, without the bias (`left_out`). By
    each, gate times s plus the part of no token is activation(h). By the last, that part,
    activation(h) − activation(s), comes from tokens and bias together, not from the bias alone.

    Args:
        hidden: the whole h.
        bias: b.

    Source:
        sundararajan-2017, section 3; the readings of kobayashi-2024, section 4.2, are ours.
    """
    if reading == "player":
        gate = activation_gate(hidden, activation)
        return gate, gate * bias
    wide, silent = hidden.double(), bias.double()
    sent = wide - silent
    if reading == "constant":
        gate, rest = slope(silent, sent, activation), active(silent, activation)
    else:
        gate = GATES[activation](sent)
        rest = active(wide, activation) - gate * sent
    return gate.to(hidden.dtype), rest.to(hidden.dtype)


def active(hidden: Float[Tensor, "*any"], activation: str) -> Float[Tensor, "*any"]:
    """activation(h).

    Source:
        sundararajan-2017, section 3.
    """
    return GATES[activation](hidden) * hidden


def slope(
    start: Float[Tensor, "*any"], step: Float[Tensor, "*any"], activation: str
) -> Float[Tensor, "*any"]:
    """(activation(start + step) − activation(start)) / step, around the middle of a tiny step.

    Source:
        sundararajan-2017, section 3.
    """
    middle, half = start + step / 2, (step.abs() / 2).clamp_min(_STEP)
    ahead, behind = active(middle + half, activation), active(middle - half, activation)
    return (ahead - behind) / (2 * half)
