"""petsiuk-2018, section 4.2: patches go or come one step after the other, most relevant first."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import floor


def order(relevance: list[float], draw: list[int]) -> list[int]:
    """The most relevant patch that is left is taken, of equal ones the first of the draw."""
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
    """What a score says of what is there after every step."""
    scores = []
    for step in range(n_steps + 1):
        n = floor(Fraction(step * len(taken), n_steps) + Fraction(1, 2))
        gone = set(taken[:n])
        scores.append(score([(patch in gone) == insertion for patch in range(len(taken))]))
    return scores


def area(values: list[float]) -> float:
    """The mean of every two neighbours, averaged over the steps."""
    steps = list(pairwise(values))
    return sum((before + after) / 2 for before, after in steps) / len(steps)
