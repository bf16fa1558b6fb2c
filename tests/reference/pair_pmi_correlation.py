"""Spearman's ρ by its definition, where there is something to rank."""

from tests.reference import attention_norm_correlation as reference


def spearman(first: list[float], second: list[float]) -> float | None:
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return reference.spearman(first, second)
