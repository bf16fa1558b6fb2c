"""How often a probe is right, with intervals over sequences, and chosen honestly."""

import numpy as np
from jaxtyping import Bool, Float, Int

from analysis.measures.bootstrap import Redraws


def right_by_sequence(
    right: Bool[np.ndarray, "cell row"], sequence: Int[np.ndarray, " row"]
) -> tuple[Int[np.ndarray, " value"], Int[np.ndarray, " value"], Float[np.ndarray, "value cell"]]:
    """How many cases each sequence has, and how many of them each probe gets right.

    Args:
        right: of every probe and case; cases of one sequence stand together.
        sequence: which sequence each case is of, in ascending order.

    Returns:
        The sequences that have a case, their cases, and the right ones.

    Source:
        clark-2019, section 4.2.
    """
    present, starts, n = np.unique(sequence, return_index=True, return_counts=True)
    if not len(present):
        return present, n, np.zeros((0, len(right)))
    return present, n, np.add.reduceat(right, starts, axis=1, dtype=np.int64).T.astype(np.float64)


def accuracy_interval(
    right: Float[np.ndarray, "sequence cell"], n: Int[np.ndarray, " sequence"], drawn: Redraws
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Percentile bootstrap of Σ right / Σ n, a sequence that is drawn bringing all its cases.

    Returns:
        Lower and upper end of the central 95%; draws without any case say nothing and are left
        out. NaN where too few units have a case.

    Source:
        efron-1979, section 2; the paper gives no intervals.
    """
    count = drawn.weights @ n
    has_case = count > 0
    means = (drawn.weights[has_case] @ right) / count[has_case, None]
    return drawn.interval(means, np.repeat((n > 0)[:, None], right.shape[1], axis=1))


def halves(n_sequences: int, *, seed: int) -> Bool[np.ndarray, " sequence"]:
    """Which of the sequences are in the first half, drawn by a seed; the odd one is.

    Source:
        clark-2019, section 4.2: the paper has no halves and chooses on what it scores.
    """
    order = np.random.default_rng(seed).permutation(n_sequences)
    first = np.zeros(n_sequences, dtype=bool)
    first[order[: (n_sequences + 1) // 2]] = True
    return first


def best_probe(
    right: Float[np.ndarray, "sequence cell"], chosen_on: Bool[np.ndarray, " sequence"]
) -> int:
    """The place of the probe that is right most often on the chosen sequences, the first of equals.

    Source:
        clark-2019, section 4.2.
    """
    return int(right[chosen_on].sum(axis=0).argmax())
