"""church-1990: how much likelier two tokens are together than by chance, counted pair by pair."""

import math
from fractions import Fraction

Words = list[int | None]


def pmi(
    sequences: list[Words], *, causal: bool, window: int | None = None
) -> dict[tuple[int, int], float]:
    """log2 p(source, target) / (p(source) p(target)) over the ordered pairs of two positions.

    Places without a word are in no pair, nor are positions farther apart than the window. In a
    causal model the source stands before the target.
    """
    pairs = [pair for words in sequences for pair, _ in places(words, causal=causal, window=window)]
    return {pair: math.log2(_ratio(pair, pairs)) for pair in set(pairs)}


def places(
    words: Words, *, causal: bool, window: int | None = None
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Every occurrence of a pair: source and target, and the positions of target and source."""
    return [
        ((source, target), (i, j))
        for i, target in enumerate(words)
        for j, source in enumerate(words)
        if (j < i if causal else j != i)
        and source is not None
        and target is not None
        and (window is None or abs(i - j) <= window)
    ]


def _ratio(pair: tuple[int, int], pairs: list[tuple[int, int]]) -> Fraction:
    """Exact, so that ratios that are equal are ties."""
    n = len(pairs)
    together = Fraction(pairs.count(pair), n)
    of_source = Fraction(sum(source == pair[0] for source, _ in pairs), n)
    of_target = Fraction(sum(target == pair[1] for _, target in pairs), n)
    return together / (of_source * of_target)
