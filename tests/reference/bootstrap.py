"""efron-1979, section 2: units drawn one by one, each bringing all its members."""

import random


def drawn_counts(units: list[int], *, resamples: int, seed: int) -> list[list[int]]:
    """Number of times that each member counts in each resample."""
    generator = random.Random(seed)
    names = sorted(set(units))
    counts = []
    for _ in range(resamples):
        drawn = [generator.choice(names) for _ in names]
        counts.append([drawn.count(unit) for unit in units])
    return counts


def interval(values: list[float]) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile, interpolated linearly."""
    ordered = sorted(values)
    return _percentile(ordered, 0.025), _percentile(ordered, 0.975)


def _percentile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
