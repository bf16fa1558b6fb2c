"""clark-2019, sections 3.1 and 3.3, of one head and one text: one pair of tokens at a time."""

import math

Matrix = list[list[float]]


def seen(query: int, n: int, *, is_causal: bool) -> range:
    """The keys that a query may look at."""
    return range(query + 1) if is_causal else range(n)


def weight(
    attention: Matrix, pairs: list[tuple[int, int]], queries: int, *, is_causal: bool
) -> float | None:
    """Attention over the pairs of a kind that there are, divided by a number of queries."""
    n = len(attention)
    there = [(i, j) for i, j in pairs if 0 <= j < n and j in seen(i, n, is_causal=is_causal)]
    return sum(attention[i][j] for i, j in there) / queries if there else None


def entropy(attention: Matrix, queries: list[int], *, is_causal: bool) -> float | None:
    """Mean entropy of some rows, each smoothed over what it may look at."""
    entropies = []
    for i in queries:
        keys = seen(i, len(attention), is_causal=is_causal)
        row = [0.9999 * attention[i][j] + 0.0001 / len(keys) for j in keys]
        entropies.append(-sum(share * math.log(share) for share in row))
    return sum(entropies) / len(entropies) if entropies else None


def pattern(attention: Matrix, types: list[str], *, is_causal: bool) -> dict[str, float | None]:
    """Every habit of one head in one text, None where the text has no such pair."""
    n = len(attention)
    everyone = list(range(n))
    of_type = {
        name: [i for i in everyone if types[i] == name] for name in ("cls", "sep", "comma_period")
    }
    others = [i for i in everyone if types[i] != "sep"]
    habits: dict[str, float | None] = {}
    for name, offset in (("self", 0), ("previous", -1), ("next", 1)):
        pairs = [(i, i + offset) for i in everyone]
        habits[name] = weight(attention, pairs, n, is_causal=is_causal)
    for name, senders, receivers in (
        ("cls", everyone, of_type["cls"]),
        ("sep", everyone, of_type["sep"]),
        ("comma_period", everyone, of_type["comma_period"]),
        ("sep_to_sep", of_type["sep"], of_type["sep"]),
        ("other_to_sep", others, of_type["sep"]),
        ("first", everyone, [i for i in everyone if types[i] in ("bos", "first")]),
    ):
        pairs = [(i, j) for i in senders for j in receivers]
        habits[name] = weight(attention, pairs, len(senders), is_causal=is_causal)
    habits["entropy"] = entropy(attention, everyone, is_causal=is_causal)
    habits["entropy_cls"] = entropy(attention, of_type["cls"], is_causal=is_causal)
    lengths = [len(seen(i, n, is_causal=is_causal)) for i in everyone]
    habits["uniform"] = sum(math.log(length) for length in lengths) / n
    return habits
