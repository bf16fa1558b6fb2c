"""Gates counted one by one, from the activation itself."""

from collections.abc import Callable


def closed_share(gates: list[list[float]], activation: Callable[[float], float]) -> float:
    """Of the gates of all tokens, those that let less than a tenth of their input through."""
    every = [each for token in gates for each in token]
    return sum(activation(each) / each < 0.1 for each in every) / len(every)
