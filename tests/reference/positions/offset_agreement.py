"""Slow twin: heads counted one by one, and resamples written out as lists of heads."""

from tests.reference.spearman import spearman

__all__ = ["agreement", "chance", "drawn", "spearman"]


def agreement(scores, attention):
    return sum(a == b for a, b in zip(scores, attention, strict=True)) / len(scores)


def chance(scores, attention):
    """Σ_t p(t) q(t) over the offsets that occur."""
    n = len(scores)
    return sum(scores.count(t) / n * attention.count(t) / n for t in set(scores))


def drawn(values, counts):
    """The values, each as often as it was drawn."""
    return [value for value, count in zip(values, counts, strict=True) for _ in range(int(count))]
