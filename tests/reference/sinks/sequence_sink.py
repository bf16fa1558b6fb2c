"""gu-2025, section 3, and kobayashi-2020, section 3.2: one head and one text, pair by pair."""

Matrix = list[list[float]]
WEIGHTS = ("attention", "even", "neighbour", "norm_share", "value_norm", "relative_norm")


def place_tokens(types: list[str]) -> dict[str, list[int]]:
    """Tokens of every place in a text."""
    special = ("cls", "sep", "bos", "register")
    content = [j for j, kind in enumerate(types) if kind not in special]
    places = {"first": [0], "first_content": content[:1]}
    for j, kind in enumerate(types):
        if kind != "first":  # which is a place already
            places.setdefault(kind, []).append(j)
    return {name: tokens for name, tokens in places.items() if tokens}


def resting(weights: Matrix, seen: list[list[int]], tokens: list[int]) -> float | None:
    """Mean attention to some tokens, over the queries that may attend to one of them."""
    sums = [
        sum(weights[i][j] for j in tokens if j in keys)
        for i, keys in enumerate(seen)
        if any(j in keys for j in tokens)
    ]
    return sum(sums) / len(sums) if sums else None


def neighbours(tokens: list[int], n: int) -> list[int]:
    """Token after each of the given ones; before it for the last token."""
    nearest = [j + 1 if j + 1 < n else j - 1 for j in tokens]
    return [j for j in nearest if j >= 0]


def of_place(
    attention: Matrix, norms: list[float], seen: list[list[int]], tokens: list[int]
) -> dict[str, float | None]:
    """All quantities of one place; None where undefined."""
    n = len(attention)
    even = [[1 / len(keys) for _ in range(n)] for keys in seen]
    weighted = [[alpha * norm for alpha, norm in zip(row, norms, strict=True)] for row in attention]
    shares = [
        [value / sum(row) for value in row] if sum(row) else list(plain)
        for row, plain in zip(weighted, attention, strict=True)
    ]
    own = [norms[j] for j in tokens]
    others = [norms[j] for j in range(n) if j not in tokens]
    beside = neighbours(tokens, n)
    value_norm = sum(own) / len(own)
    there = bool(others) and sum(others) > 0
    return {
        "attention": resting(attention, seen, tokens),
        "even": resting(even, seen, tokens),
        "neighbour": resting(attention, seen, beside) if beside else None,
        "norm_share": resting(shares, seen, tokens),
        "value_norm": value_norm,
        "relative_norm": value_norm / (sum(others) / len(others)) if there else None,
    }
