"""Rows as they should be against rows as a file has them."""

from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd

ROUNDING = 2e-5
"""What float32 leaves of a value, over the largest value of its column."""


class Comparison(NamedTuple):
    """One view: rows compared, rows that only one side has, and the largest deviation.

    A deviation is the largest difference in a column over the column's largest size, or the
    difference itself where the view is `absolute`; it is infinite where only one side has a value.
    """

    view: str
    n_rows: int
    n_missing: int
    n_extra: int
    deviation: float
    where: str
    tolerance: float

    @property
    def holds(self) -> bool:
        return not self.n_missing and not self.n_extra and self.deviation <= self.tolerance

    def line(self) -> str:
        verdict = "holds" if self.holds else "DEVIATES"
        return (
            f"{self.view:28} {self.n_rows:>9} {self.deviation:>10.1e} {self.tolerance:>8.0e}  "
            f"{verdict}  {self.where}  missing {self.n_missing}, extra {self.n_extra}"
        )


def stored_rows(store: duckdb.DuckDBPyConnection, query: str, columns: list[str]) -> pd.DataFrame:
    """The given columns of a query, names as text."""
    described = store.execute(f"describe {query}").fetchall()
    as_text = {name for name, kind, *_ in described if kind.startswith(("ENUM", "VARCHAR"))}
    chosen = ", ".join(f'"{c}"::varchar as "{c}"' if c in as_text else f'"{c}"' for c in columns)
    return store.execute(f"select {chosen} from ({query})").df()


def compared(
    view: str,
    expected: pd.DataFrame,
    stored: pd.DataFrame,
    *,
    keys: list[str],
    tolerance: float,
    absolute: bool = False,
) -> Comparison:
    """Both sides joined by their keys; a key that is NULL is a key."""
    sides = [
        frame.assign(**{key: frame[key].map(_written) for key in keys})
        for frame in (expected, stored)
    ]
    values = [name for name in expected.columns if name not in keys]
    both = sides[0].merge(sides[1], on=keys, how="outer", indicator=True, suffixes=("", "_stored"))
    counts, there = both["_merge"].value_counts(), both[both["_merge"] == "both"]
    assert not sides[1].duplicated(keys).any(), f"{view} has a key twice"
    deviation, where = 0.0, ""
    for name in values:
        difference, row = _deviation(there, name, absolute=absolute)
        if difference > deviation:
            place = ", ".join(f"{key} {there[key].iloc[row]}" for key in keys)
            deviation, where = difference, f"{name} at {place}"
    missing, extra = (int(counts[side]) for side in ("left_only", "right_only"))
    return Comparison(view, len(there), missing, extra, deviation, where, tolerance)


def _written(value: object) -> str:
    """A key as text, numbers written alike whatever their type."""
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "null"
    return value if isinstance(value, str) else f"{float(value):.9g}"  # type: ignore[arg-type]


def _deviation(both: pd.DataFrame, name: str, *, absolute: bool) -> tuple[float, int]:
    """The largest difference of a column over its largest size, and its row."""
    expected, stored = both[name], both[f"{name}_stored"]
    if not len(both):
        return 0.0, 0
    if isinstance(expected.iloc[0], str):
        differs = (expected != stored).to_numpy()
        return (np.inf, int(differs.argmax())) if differs.any() else (0.0, 0)
    left, right = (side.to_numpy(dtype=float, na_value=np.nan) for side in (expected, stored))
    one_sided = np.isnan(left) != np.isnan(right)
    if one_sided.any():
        return np.inf, int(one_sided.argmax())
    difference = np.nan_to_num(np.abs(left - right))
    size = np.nanmax(np.abs(right), initial=0.0)
    row = int(difference.argmax())
    return float(difference[row] / (1.0 if absolute or not size else size)), row
