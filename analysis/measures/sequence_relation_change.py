"""Between which kinds of tokens a step changes the mixing."""

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from analysis.scopes import RELATIONS


def relation_changes(
    deltas: Float[np.ndarray, "effect query key"],
    relations: Int8[np.ndarray, "query key"],
    pairs: Bool[np.ndarray, "query key"],
) -> tuple[
    Int[np.ndarray, " relation"],
    Float[np.ndarray, "effect relation"],
    Float[np.ndarray, "effect relation"],
]:
    """Pairs of a relation, and over them Σ |δ| and Σ max(δ, 0); no token is a pair with itself.

    Args:
        deltas: by how much a step changes the share that a key has of its query's row.
        relations: places in `RELATIONS`.
        pairs: which queries see which keys.

    Returns:
        A count; shares of a row, of which all pairs of a sequence together change n · 2 at most.

    Source:
        kobayashi-2024, section 5.2, which tells these kinds apart by eye.
    """
    two_positions = pairs & ~np.eye(len(relations), dtype=bool)
    of_pair = relations[two_positions]
    changed = deltas[:, two_positions].astype(np.float64)

    def summed(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(of_pair, each, len(RELATIONS)) for each in values]
        return np.array(sums, dtype=np.float64)  # bincount of nothing counts in integers

    count = np.bincount(of_pair, minlength=len(RELATIONS))
    return count, summed(np.abs(changed)), summed(changed.clip(min=0))
