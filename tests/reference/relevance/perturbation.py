"""petsiuk-2018, section 4.2: deletion and insertion of patches, most relevant first."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import floor


def order(relevance: list[float], draw: list[int]) -> list[int]:
    """Order of the patches by relevance; ties in the order of the draw."""
    left, taken = set(range(len(relevance))), []
    while left:
        largest = max(relevance[patch] for patch in left)
        ties = [patch for patch in left if relevance[patch] == largest]
        taken.append(min(ties, key=lambda patch: draw[patch]))
        left.remove(taken[-1])
    return taken


def curve(
    taken: list[int], n_steps: int, score: Callable[[list[bool]], float], *, insertion: bool
) -> list[float]:
    """Scores of the patches kept after every step."""
    scores = []
    for step in range(n_steps + 1):
        n = floor(Fraction(step * len(taken), n_steps) + Fraction(1, 2))
        gone = set(taken[:n])
        scores.append(score([(patch in gone) == insertion for patch in range(len(taken))]))
    return scores


def area(values: list[float]) -> float:
    """Area under the curve by the trapezoidal rule, over a width of 1."""
    steps = list(pairwise(values))
    return sum((before + after) / 2 for before, after in steps) / len(steps)
