"""sundararajan-2017: Integrated Gradients of activation(g) · u, summand by summand, by sums over
the path; and the half-and-half rule of achtibat-2024."""

from collections.abc import Callable


def gate_share(gate: float, activation: Callable[[float], float], steps: int = 4000) -> float:
    """∫ t · activation(t g) / (t g) dt, which is ∫ activation(t g) dt / g."""
    places = ((step + 0.5) / steps for step in range(steps))
    return sum(activation(at * gate) for at in places) / steps / gate


def shares(
    gates: list[float],
    values: list[float],
    activation: Callable[[float], float],
    *,
    start: tuple[float, float] = (0.0, 0.0),
    steps: int = 4000,
) -> list[float]:
    """Share of each summand, of g and of u at once, on the path from a start to start plus sum."""
    given = [0.0] * len(gates)
    whole_gate, whole_value = sum(gates), sum(values)
    for step in range(steps):
        at = (step + 0.5) / steps
        gate, value = start[0] + at * whole_gate, start[1] + at * whole_value
        slope = (activation(gate + 1e-6) - activation(gate - 1e-6)) / 2e-6
        for place, (of_gate, of_value) in enumerate(zip(gates, values, strict=True)):
            given[place] += (slope * value * of_gate + activation(gate) * of_value) / steps
    return given


def half_shares(
    gates: list[float], values: list[float], activation: Callable[[float], float]
) -> list[float]:
    """Half of the product for each side; the gate's half in proportion to its summands."""
    gate, value = sum(gates), sum(values)
    product = activation(gate) * value
    return [
        product / 2 * of_gate / gate + product / 2 * of_value / value
        for of_gate, of_value in zip(gates, values, strict=True)
    ]
