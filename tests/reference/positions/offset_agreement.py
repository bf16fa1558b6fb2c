"""Slow twin: heads counted one by one, and resamples written out as lists of heads."""

from scipy.stats import rankdata


def agreement(scores, attention):
    return sum(a == b for a, b in zip(scores, attention, strict=True)) / len(scores)


def chance(scores, attention):
    """Σ_t p(t) q(t) over the offsets that occur."""
    n = len(scores)
    return sum(scores.count(t) / n * attention.count(t) / n for t in set(scores))


def spearman(scores, attention):
    """Pearson's correlation of mid-ranks, or None if there is nothing to rank."""
    first, second = (rankdata(each) - (len(each) + 1) / 2 for each in (scores, attention))
    scale = (sum(first**2) * sum(second**2)) ** 0.5
    return sum(first * second) / scale if scale > 0 else None


def drawn(values, counts):
    """The values, each as often as it was drawn."""
    return [value for value, count in zip(values, counts, strict=True) for _ in range(int(count))]
