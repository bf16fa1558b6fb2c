"""clark-2019, section 5: scores of governors from the attention of all heads, pair by pair."""

Vector = list[float]
Matrix = list[Vector]


def attention_score(
    maps: list[Matrix], own: Vector, other: Vector, *, dependent: int, governor: int
) -> float:
    """Σ over heads of one weight times what the dependent gives, another times what it gets."""
    total = 0.0
    for attention, given, gotten in zip(maps, own, other, strict=True):
        total += given * attention[dependent][governor] + gotten * attention[governor][dependent]
    return total


def root_score(given: list[Matrix], weights: list[Vector], constant: float, word: int) -> float:
    """Score of the root for a word, from its attention to special tokens.

    Args:
        given: by kind and head the attention of each word; `weights` by kind and head.
    """
    total = constant
    for of_kind, weight_of_kind in zip(given, weights, strict=True):
        total += sum(w * g[word] for w, g in zip(weight_of_kind, of_kind, strict=True))
    return total


def dot(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
