"""Between which kinds of tokens a step changes the mixing."""

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from analysis.measures.pairs.pair_delta import row_shares
from analysis.scopes import RELATIONS, LayerOrder


def shares_before(
    maps: Float[np.ndarray, "scope query key"], order: LayerOrder
) -> Float[np.ndarray, "effect query key"]:
    """The share of every key in every query before each effect of a layer.

    Returns:
        Shares; each row sums to 1 over its keys, the query itself among them.

    Source:
        kobayashi-2024, section 5.2, footnote 3.
    """
    of_scope = dict(zip(order.scopes, row_shares(maps), strict=True))
    return np.stack([of_scope[before] for before, _ in order.effects.values()])


def relation_changes(
    before: Float[np.ndarray, "effect query key"],
    deltas: Float[np.ndarray, "effect query key"],
    relations: Int8[np.ndarray, "query key"],
    pairs: Bool[np.ndarray, "query key"],
) -> tuple[
    Int[np.ndarray, " relation"],
    Float[np.ndarray, "effect relation"],
    Float[np.ndarray, "effect relation"],
    Float[np.ndarray, "effect relation"],
]:
    """Number of pairs of each relation, and over them Σ share before, Σ |δ| and Σ max(δ, 0).

    No token is a pair with itself.

    Args:
        before: a key's share of its query's row before a step.
        deltas: changes of that share by the step.
        relations: indices in `RELATIONS`.
        pairs: True where a query sees a key.

    Returns:
        A count; sums of shares of a row: over all pairs of a sequence at most n before the step,
        and at most 2 n of change.

    Source:
        kobayashi-2024, section 5.2, which distinguishes these kinds by eye.
    """
    two_positions = pairs & ~np.eye(len(relations), dtype=bool)
    of_pair = relations[two_positions]
    held, changed = (values[:, two_positions].astype(np.float64) for values in (before, deltas))

    def summed(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(of_pair, row, len(RELATIONS)) for row in values]
        return np.array(sums, dtype=np.float64)  # bincount of nothing counts in integers

    count = np.bincount(of_pair, minlength=len(RELATIONS))
    return count, summed(held), summed(np.abs(changed)), summed(changed.clip(min=0))
