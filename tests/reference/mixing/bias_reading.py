"""sundararajan-2017: three paths of the integral, one coordinate at a time, derivatives by
differences."""

from collections.abc import Callable


def shares(
    summands: list[float],
    bias: float,
    activation: Callable[[float], float],
    *,
    reading: str,
    steps: int = 2000,
) -> tuple[list[float], float]:
    """Share of each token's summand in activation(h), and the rest that belongs to no token."""
    sent = sum(summands)
    start = bias if reading == "constant" else 0.0
    end = sent if reading == "left_out" else sent + bias
    slope = 0.0
    for step in range(steps):
        at = start + (end - start) * (step + 0.5) / steps
        slope += (activation(at + 1e-6) - activation(at - 1e-6)) / 2e-6 / steps
    given = [slope * summand for summand in summands]
    return given, activation(sent + bias) - sum(given)
