"""Gates counted one by one, from the activation itself."""

from collections.abc import Callable


def closed_share(gates: list[list[float]], activation: Callable[[float], float]) -> float:
    """Share of closed gates of all tokens: those that pass less than a tenth of their input."""
    every = [gate for token in gates for gate in token]
    return sum(activation(gate) / gate < 0.1 for gate in every) / len(every)
