"""church-1990: how much likelier two tokens are together than by chance, counted pair by pair."""

import math


def pmi(
    sequences: list[list[int]], *, causal: bool, masked: frozenset[int] = frozenset()
) -> dict[tuple[int, int], float]:
    """log2 p(source, target) / (p(source) p(target)) over the ordered pairs of two positions.

    In a causal model the source stands before the target. Masked places are in no pair.
    """
    pairs = [
        (source, target)
        for ids in sequences
        for i, target in enumerate(ids)
        for j, source in enumerate(ids)
        if (j < i if causal else j != i) and not {source, target} & masked
    ]
    return {pair: math.log2(_ratio(pair, pairs)) for pair in set(pairs)}


def _ratio(pair: tuple[int, int], pairs: list[tuple[int, int]]) -> float:
    n = len(pairs)
    together = pairs.count(pair) / n
    of_source = sum(source == pair[0] for source, _ in pairs) / n
    of_target = sum(target == pair[1] for _, target in pairs) / n
    return together / (of_source * of_target)
