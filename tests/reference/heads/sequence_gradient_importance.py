"""clark-2019, section 3.2: one attention weight at a time is moved, and the loss looked at."""

from collections.abc import Callable

Loss = Callable[[int, int, float], float]
"""The loss of one text when one weight, by its query and key, is moved by some amount."""


def derivative(loss: Loss, query: int, key: int, *, step: float) -> float:
    """Central difference of the loss in one weight of one head."""
    return (loss(query, key, step) - loss(query, key, -step)) / (2 * step)


def importance(
    loss: Loss, types: list[str], of_type: str, *, is_causal: bool, step: float
) -> float:
    """Absolute derivatives over the pairs whose key is of a type, over the number of tokens."""
    n = len(types)
    total = 0.0
    for query in range(n):
        for key in range(query + 1 if is_causal else n):
            if types[key] == of_type:
                total += abs(derivative(loss, query, key, step=step))
    return total / n
