"""The released code's word-frequency analysis: ranks by count, Spearman over occurrences."""

from tests.reference.norms.attention_norm_correlation import spearman


def frequency_ranks(counts: list[int]) -> list[int]:
    """1 + how many entries are more frequent."""
    return [1 + sum(other > count for other in counts) for count in counts]


def rank_correlation(ranks: list[int], values: list[float]) -> float:
    rho = spearman([float(rank) for rank in ranks], values)
    assert rho is not None
    return rho
