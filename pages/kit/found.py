"""Findings of the overview: a sentence with its number, evidence and section."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pages.words.interval import Side, side_of

_ENDS = (np.nan, np.nan)
MEAN_ENDS = """if(count(low) = count(*), avg(low), null) as low,
    if(count(high) = count(*), avg(high), null) as high"""
"""Ends of a mean over layers, which hold even if all layers vary together, as SQL."""


@dataclass(frozen=True)
class Found:
    """A number under its label, the sentence that explains it, and the section that shows it.

    `evidence` has rows name, value, low and high. The first row is the result; `baseline` is a
    value, or the name of the row to compare with. `format` is that of the values. `page` and `view`
    name the section, and `queries` are the SQL behind its findings; all three are set when the
    findings of a page are gathered.
    """

    label: str
    number: str
    sentence: str
    evidence: pd.DataFrame
    baseline: float | str | None = None
    format: str = ".0%"
    page: str = ""
    view: str = ""
    queries: tuple[str, ...] = ()

    @cached_property
    def side(self) -> Side:
        """Side of the baseline on which the interval of the result lies."""
        return "unsure" if self.baseline is None else compared(self.evidence, self.baseline)

    @cached_property
    def strength(self) -> float:
        """Distance of the result from its baseline; NaN if unknown.

        The unit is half of the interval plus half of that of the baseline, if it has one: beyond 1,
        both are clear of each other.
        """
        frame = self.evidence
        if frame.empty or self.baseline is None:
            return float("nan")
        first, level = frame.iloc[0], self.baseline
        half = (first["high"] - first["low"]) / 2 or float("nan")
        if isinstance(level, str):
            against = frame[frame["name"] == level].iloc[0]
            level = against["value"]
            half += np.nan_to_num((against["high"] - against["low"]) / 2)
        return float(abs(first["value"] - level) / half)


def compared(evidence: pd.DataFrame, baseline: float | str) -> Side:
    """Side of the baseline on which the interval of the first row lies."""
    first = evidence.iloc[0]
    if not isinstance(baseline, str):
        return side_of(first["low"], first["high"], baseline)
    other = evidence[evidence["name"] == baseline].iloc[0]
    level, highest = other[["low", "high"]].fillna(other["value"])
    return side_of(first["low"], first["high"], level, highest)


def rows_of(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Evidence without layers: rows of a name, a value, and its interval if it has one."""
    full = [(*row, *_ENDS)[:4] for row in rows]
    return pd.DataFrame(full, columns=["name", "value", "low", "high"])
