"""kobayashi-2024, section 5.2: the change of every pair, put down to how its tokens relate."""

from collections import defaultdict


def relation_changes(
    before: list[list[float]], after: list[list[float]], relations: list[list[str]], *, causal: bool
) -> dict[str, tuple[int, float, float, float]]:
    """Sums by relation: pairs, Σ share before, Σ |δ|, Σ of the δ above 0.

    A token forms no pair with itself, nor with later tokens in a causal model.
    """
    n: dict[str, int] = defaultdict(int)
    held: dict[str, float] = defaultdict(float)
    change: dict[str, float] = defaultdict(float)
    gain: dict[str, float] = defaultdict(float)
    for query in range(len(before)):
        for key in range(len(before)):
            if query == key or (causal and key > query):
                continue
            share = [weights[query][key] / sum(weights[query]) for weights in (before, after)]
            relation = relations[query][key]
            n[relation] += 1
            held[relation] += share[0]
            change[relation] += abs(share[1] - share[0])
            gain[relation] += max(share[1] - share[0], 0)
    return {name: (n[name], held[name], change[name], gain[name]) for name in n}
