"""How far two runs of one model over one corpus may differ in what a table holds.

A run that was killed and goes on, more workers, a cluster, jobs in another order: all these change
no bit. Other batches, threads or processors add up in another order, so that numbers differ by
round-off; what that does to a table is declared with it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """How far numbers agree: the differences allowed, as a share of the largest of their column.

    `tolerance` is None where one bit can decide between this and that; `meaning` says it in words.
    """

    tolerance: float | None
    meaning: str


EXACT = Agreement(0.0, "to the bit")
TO_ROUND_OFF = Agreement(1e-5, "to 1e-5 of the largest number of a column")
BY_RANK = Agreement(0.02, "to 0.02, since what is nearly equal may change places among the ranks")
CHOSEN = Agreement(None, "as far as choices between what is nearly equal fall the same way")
