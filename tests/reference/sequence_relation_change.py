"""kobayashi-2024, section 5.2: the change of every pair, put down to how its tokens relate."""

from collections import defaultdict


def relation_changes(
    before: list[list[float]],
    after: list[list[float]],
    relations: list[list[str]],
    *,
    causal: bool,
) -> dict[str, tuple[int, float, float]]:
    """By relation: pairs, Σ |δ|, Σ of the δ above 0; a token is no pair with itself.

    Nor is it one with those behind it if the model is causal.
    """
    n: dict[str, int] = defaultdict(int)
    change: dict[str, float] = defaultdict(float)
    gain: dict[str, float] = defaultdict(float)
    for query in range(len(before)):
        for key in range(len(before)):
            if query == key or (causal and key > query):
                continue
            share = [each[query][key] / sum(each[query]) for each in (before, after)]
            relation = relations[query][key]
            n[relation] += 1
            change[relation] += abs(share[1] - share[0])
            gain[relation] += max(share[1] - share[0], 0)
    return {relation: (n[relation], change[relation], gain[relation]) for relation in n}
