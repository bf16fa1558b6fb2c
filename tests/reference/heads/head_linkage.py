"""sokal-1958: the two nearest groups joined again and again, distances being means of all pairs."""

Matrix = list[list[float]]


def apart(one: frozenset[int], other: frozenset[int], distances: Matrix) -> float:
    """Mean distance of a member of one group and a member of the other."""
    return sum(distances[a][b] for a in one for b in other) / (len(one) * len(other))


def joins(distances: Matrix) -> list[tuple[frozenset[int], float]]:
    """The members of the group that every step makes, and the distance of the two it joined."""
    groups = [frozenset([head]) for head in range(len(distances))]
    steps = []
    while len(groups) > 1:
        height, one, other = min(
            (apart(one, other, distances), place, later)
            for place, one in enumerate(groups)
            for later, other in enumerate(groups)
            if place < later
        )
        joined = groups[one] | groups[other]
        groups = [group for place, group in enumerate(groups) if place not in (one, other)]
        groups.append(joined)
        steps.append((joined, height))
    return steps
