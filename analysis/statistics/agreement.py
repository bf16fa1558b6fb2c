"""Tolerances for differences between two runs of one model over one corpus, by table.

An interrupted and resumed run, more workers, a cluster, jobs in another order: all these change no
bit. Other batches, threads or processors add up in another order, so that numbers differ by
round-off; each table declares its tolerance.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """Largest difference between the same numbers of two runs, as a share of the column's largest.

    `tolerance` is None where one bit can decide a discrete choice; `meaning` describes it in words.
    """

    tolerance: float | None
    meaning: str


EXACT = Agreement(0.0, "to the bit")
TO_ROUND_OFF = Agreement(1e-5, "to 1e-5 of the largest number of a column")
BY_RANK = Agreement(0.02, "to 0.02, since what is nearly equal may change places among the ranks")
CHOSEN = Agreement(None, "as far as choices between what is nearly equal fall the same way")
