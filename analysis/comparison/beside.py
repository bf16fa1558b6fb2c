"""The numbers of a file and its differences from another, in frames by number and layer."""

import numpy as np
import pandas as pd

from analysis.comparison.account import Account, reasons, same_heads, shared_sequences
from analysis.comparison.differences import (
    Differences,
    Means,
    corrected,
    means,
    paired_differences,
    unpaired_differences,
)
from analysis.comparison.numbers import OF_HEADS, by_unit

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
