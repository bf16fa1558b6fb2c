"""Accuracy of probes with bootstrap intervals; the best probe is chosen on held-out sequences."""

import numpy as np
from jaxtyping import Bool, Float, Int

from analysis.measures.bootstrap import Redraws

Part = Bool[np.ndarray, " sequence"]


def right_by_sequence(
    right: Bool[np.ndarray, "cell row"], sequence: Int[np.ndarray, " row"]
) -> tuple[Int[np.ndarray, " value"], Int[np.ndarray, " value"], Float[np.ndarray, "value cell"]]:
    """Count the cases of each sequence, and the correct ones by probe.

    Args:
        right: of every probe and case; cases of one sequence are contiguous.
        sequence: sequence number of each case, in ascending order.

    Returns:
        The sequences that have a case, their cases, and the correct ones.

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
    """Percentile bootstrap of Σ right / Σ n over sequences, each with all its cases.

    Returns:
        Lower and upper end of the central 95%; resamples without any case are left out. NaN where
        too few units have a case.

    Source:
        efron-1979, section 2; the paper gives no intervals.
    """
    count = drawn.weights @ n
    has_case = count > 0
    means = (drawn.weights[has_case] @ right) / count[has_case, None]
    return drawn.interval(means, np.repeat((n > 0)[:, None], right.shape[1], axis=1))


def scores_against(
    baseline: Float[np.ndarray, " sequence"],
    right: Float[np.ndarray, " sequence"],
    n: Int[np.ndarray, " sequence"],
    *,
    chosen: Part,
    scored: Part,
    drawn: Redraws,
) -> dict[str, float | int]:
    """Accuracy of a probe where it was chosen and where it is scored, and there of a baseline.

    Args:
        baseline: correct cases of the baseline by sequence, as `right` has those of the probe.
        n: cases of each sequence.
        drawn: resamples of the sequences that are scored.

    Returns:
        Numbers of cases, accuracies, their difference, and intervals, by column of a table.

    Source:
        clark-2019, section 4.2: the paper selects and scores on the same cases.
    """
    n_scored, n_chosen = int(n[scored].sum()), int(n[chosen].sum())
    more = right - baseline
    low, high = accuracy_interval(np.stack([right, more], axis=1)[scored], n[scored], drawn)
    return {
        "n_chosen": n_chosen,
        "accuracy_chosen": right[chosen].sum() / n_chosen,
        "n": n_scored,
        "accuracy": right[scored].sum() / n_scored,
        "low": low[0],
        "high": high[0],
        "baseline_accuracy": baseline[scored].sum() / n_scored,
        "difference": more[scored].sum() / n_scored,
        "difference_low": low[1],
        "difference_high": high[1],
    }


def halves(n_sequences: int, *, seed: int) -> Bool[np.ndarray, " sequence"]:
    """Mask of the first of two random halves of the sequences; it has the odd one.

    Source:
        clark-2019, section 4.2: the paper has no halves and selects on the scored words.
    """
    order = np.random.default_rng(seed).permutation(n_sequences)
    first = np.zeros(n_sequences, dtype=bool)
    first[order[: (n_sequences + 1) // 2]] = True
    return first


def parts(n_sequences: int, *, seed: int) -> dict[str, tuple[Part, Part]]:
    """Masks of the sequences that a probe is chosen on and of those that it is scored on, by name.

    Source:
        clark-2019, section 4.2: the paper has `all` alone.
    """
    first = halves(n_sequences, seed=seed)
    every = np.ones_like(first)
    return {"all": (every, every), "first": (first, ~first), "second": (~first, first)}


def best_probe(
    right: Float[np.ndarray, "sequence cell"], chosen_on: Bool[np.ndarray, " sequence"]
) -> int:
    """Index of the most accurate probe on the chosen sequences; ties go to the first.

    Source:
        clark-2019, section 4.2.
    """
    return int(right[chosen_on].sum(axis=0).argmax())
