"""kobayashi-2024, section 4.1: two maps laid out as two lists, and Spearman's ρ of these."""

from tests.reference.attention_norm_correlation import spearman


def scope_similarity(first: list[list[float]], second: list[list[float]]) -> float | None:
    """ρ of all values of two maps; None where one of them never changes."""
    lists = [[value for row in each for value in row] for each in (first, second)]
    if any(len(set(values)) == 1 for values in lists):
        return None
    return spearman(*lists)
