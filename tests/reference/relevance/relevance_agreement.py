"""Spearman's ρ as Pearson's correlation of mid-ranks, counted value by value."""


def midranks(values: list[float]) -> list[float]:
    """How many are smaller, and half of those that are equal."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def spearman(first: list[float], second: list[float]) -> float | None:
    """None where one of the two holds a single value."""
    a, b = midranks(first), midranks(second)
    mean = (len(a) + 1) / 2
    spread = [sum((rank - mean) ** 2 for rank in ranks) for ranks in (a, b)]
    if not all(spread):
        return None
    shared = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    return shared / (spread[0] * spread[1]) ** 0.5
