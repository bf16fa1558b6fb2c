"""Numbers of a file and their differences from another, with intervals and p-values."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.stats import false_discovery_control, wilcoxon

from analysis.comparison.account import Account, reasons, same_heads, shared_sequences
from analysis.comparison.numbers import OF_HEADS, by_unit
from analysis.measures.bootstrap import LEAST_UNITS, means_of_sums, percentile_interval, redraws

Cells = Float[np.ndarray, " cell"]
Values = Float[np.ndarray, "sequence cell"]
"""Values of every sequence in every cell; NaN where a sequence has none."""
Blocks = Float[np.ndarray, "block cell"]

MOST_BLOCKS = 4096
"""Number of blocks to resample for more sequences than this; fewer are resampled one by one."""
_MOST_EXACT = 50  # sequences, as SciPy has it


class Means(NamedTuple):
    """Means over sequences, the ends of their intervals, and the numbers of sequences."""

    mean: Cells
    low: Cells
    high: Cells
    n: Int[np.ndarray, " cell"]


class Differences(NamedTuple):
    """The second file less the first: the ends of the interval, and of paired sequences the p-value
    (NaN otherwise); `n` sequences of the first and `n_other` of the second, the same if paired."""

    difference: Cells
    low: Cells
    high: Cells
    p: Cells
    n: Int[np.ndarray, " cell"]
    n_other: Int[np.ndarray, " cell"]


def means(values: Values, *, seed: int) -> Means:
    """Means over sequences with percentile intervals, as a file's own statistics have them.

    More than `MOST_BLOCKS` sequences are redrawn in blocks of neighbours.
    """
    sums, counts = _blocks(values)
    drawn = redraws(np.arange(len(sums)), seed=seed)
    low, high = drawn.interval(means_of_sums(sums, counts, drawn.weights), counts > 0)
    return Means(_mean(values), low, high, (~np.isnan(values)).sum(axis=0))


def paired_differences(one: Values, other: Values, *, seed: int) -> Differences:
    """Return mean paired differences, second minus first, of the same sequences row for row.

    Sequences are redrawn with both their values. p is that of Wilcoxon's signed ranks, two-sided:
    exact of few sequences without ties, else from the normal distribution; 1 where none differs.

    Returns:
        NaN for the interval below `LEAST_UNITS` sequences, and for p if fewer than that differ.
    """
    change = other - one
    mean_change = means(change, seed=seed)
    p = np.array([_signed_rank(column[~np.isnan(column)]) for column in change.T])
    return Differences(*mean_change[:3], p=p, n=mean_change.n, n_other=mean_change.n)


def unpaired_differences(one: Values, other: Values, *, seed: int) -> Differences:
    """Return differences of means over different sequences, which are resampled independently.

    Returns:
        NaN for the interval where either file has fewer than `LEAST_UNITS` sequences.
    """
    sides = (_resampled(one, seed=seed), _resampled(other, seed=seed + 1))
    n_drawn = min(map(len, sides))
    low, high = percentile_interval(sides[1][:n_drawn] - sides[0][:n_drawn])
    counts = [(~np.isnan(values)).sum(axis=0) for values in (one, other)]
    few = np.minimum(*counts) < LEAST_UNITS
    mean = np.subtract(*(_mean(values) for values in (other, one)))
    low, high = (np.where(few, np.nan, end) for end in (low, high))
    return Differences(mean, low, high, np.full_like(mean, np.nan), *counts)


def corrected(p: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    """p-values corrected for multiple tests (Benjamini and Hochberg); NaN stays NaN."""
    known = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    if known.any():
        adjusted[known] = false_discovery_control(p[known])
    return adjusted


def _mean(values: Values) -> Cells:
    return means_of_sums(*_known(values), np.ones((1, len(values))))[0]


def _resampled(values: Values, *, seed: int) -> Float[np.ndarray, "resample cell"]:
    sums, counts = _blocks(values)
    return means_of_sums(sums, counts, redraws(np.arange(len(sums)), seed=seed).weights)


def _blocks(values: Values) -> tuple[Blocks, Blocks]:
    """Return the sum of a cell's values per block of sequences, and their number."""
    known, n = _known(values), len(values)
    if n <= MOST_BLOCKS:
        return known
    starts = np.arange(MOST_BLOCKS) * n // MOST_BLOCKS
    sums, counts = (np.add.reduceat(part, starts) for part in known)
    return sums, counts


def _known(values: Values) -> tuple[Values, Values]:
    """Return the values with 0 for those that are absent, and 1 for each that is there."""
    present = ~np.isnan(values)
    return np.where(present, values, 0.0), present.astype(np.float64)


def _signed_rank(change: Float[np.ndarray, " sequence"]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed ranks; NaN if too few sequences differ."""
    moved = np.abs(change[change != 0])
    if len(change) < LEAST_UNITS or 0 < len(moved) < LEAST_UNITS:
        return np.nan
    if not len(moved):
        return 1.0
    is_small = len(np.unique(moved)) == len(change) <= _MOST_EXACT
    test: Any = wilcoxon(change, method="exact" if is_small else "asymptotic")
    return float(test.pvalue)


_KEY = ["number", "layer"]


def own_numbers(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """A file's numbers with their intervals.

    Args:
        rows: `unit_values` of the file.

    Returns:
        number, layer, mean, low, high, n; NaN where there is no interval.
    """
    columns = [*_KEY, *Means._fields]
    parts = [pd.DataFrame(columns=columns)]
    for part in _by_kind(rows).values():
        values = by_unit(part)
        estimates = means(values.to_numpy(), seed=seed)
        parts.append(values.columns.to_frame(index=False).assign(**estimates._asdict()))
    numbers = pd.concat(parts, ignore_index=True)
    return numbers.astype(dict.fromkeys(("mean", "low", "high"), "float64"))


def differences(
    one: tuple[Account, pd.DataFrame], other: tuple[Account, pd.DataFrame], *, seed: int
) -> pd.DataFrame:
    """Differences of numbers between two files, second minus first.

    Args:
        one, other: the file's facts and its `unit_values`.

    Returns:
        number, layer, difference, low, high, p, n, n_other, is_paired; numbers and layers that both
        have.
    """
    accounts = (one[0], other[0])
    kinds = [_by_kind(rows) for _, rows in (one, other)]
    sequences = None if reasons(*accounts, "paired") else shared_sequences(*accounts)
    parts = []
    for kind in (kind for kind in kinds[0] if kind in kinds[1]):
        one_side, other_side = (by_unit(side[kind]) for side in kinds)
        units = sequences
        if kind == "heads":
            both = one_side.index.intersection(other_side.index).to_numpy()
            units = both if same_heads(*accounts) else None
        parts.append(_of_kind(one_side, other_side, units, seed=seed))
    columns = [*_KEY, *Differences._fields, "is_paired"]
    frame = pd.concat([pd.DataFrame(columns=columns), *parts], ignore_index=True)
    return frame.astype(dict.fromkeys(("difference", "low", "high", "p"), "float64"))


def with_correction(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `differences` that are shown together, with p corrected for their number as `q`,
    and whether the interval leaves out 0 as `is_clear` (missing without one)."""
    p = rows["p"].to_numpy(dtype=np.float64)
    clear = ((rows["low"] > 0) | (rows["high"] < 0)).astype("boolean")
    return rows.assign(q=corrected(p), is_clear=clear.mask(rows["low"].isna()))


def _by_kind(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of numbers that are means over sequences, and of those over heads."""
    of_heads = rows["number"].isin(OF_HEADS)
    kinds = {"sequences": rows[~of_heads], "heads": rows[of_heads]}
    return {kind: part for kind, part in kinds.items() if len(part)}


def _of_kind(
    one: pd.DataFrame, other: pd.DataFrame, units: np.ndarray | None, *, seed: int
) -> pd.DataFrame:
    """Differences of two matrices of `by_unit`; `units` are in both and the same, None unpaired."""
    cells = one.columns.intersection(other.columns)
    sides = [one[cells], other[cells]]
    if units is None:
        changes = unpaired_differences(*(side.to_numpy() for side in sides), seed=seed)
    else:
        changes = paired_differences(*(side.reindex(units).to_numpy() for side in sides), seed=seed)
    rows = cells.to_frame(index=False).assign(**changes._asdict())
    return rows.assign(is_paired=units is not None)
