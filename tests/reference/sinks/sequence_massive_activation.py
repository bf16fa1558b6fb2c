"""sun-2024, section 2: coordinate by coordinate."""

Matrix = list[list[float]]


def largest(states: Matrix, tokens: list[int]) -> tuple[float, int, int]:
    """The size of the largest coordinate of some tokens, which token has it, and which it is."""
    best = (0.0, tokens[0], 0)
    for j in tokens:
        for c, value in enumerate(states[j]):
            if abs(value) > best[0]:
                best = (abs(value), j, c)
    return best


def median(states: Matrix) -> float:
    """The middle of all sizes; of two the lower one."""
    sizes = sorted(abs(value) for row in states for value in row)
    return sizes[(len(sizes) - 1) // 2]
