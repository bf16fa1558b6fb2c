"""Findings of the overview: a sentence with its number, evidence and section."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pages.words.interval import Side, side_of

_ENDS = (np.nan, np.nan)
_NUMBER = ["mean", "low", "high"]


@dataclass(frozen=True)
class Finding:
    """A number under its label, the sentence that explains it, and the section that shows it.

    `evidence` has rows name, value, low and high, and `layer` for findings by layer. The rows with
    the first name are the result; `baseline` is a value, or the name of the rows to compare with.
    The number is among the rows, and in the section. The sentence is chosen by `compared`. `format`
    is that of the values. `known_by` states the certainty of findings without intervals. `choices`
    are the section's choices under which it shows the number, if not the default ones. `page` and
    `view` name the section, and `queries` are the SQL behind its findings; all three are set when
    the findings of a page are gathered.
    """

    label: str
    number: str
    sentence: str
    evidence: pd.DataFrame
    baseline: float | str | None = None
    format: str = ".0%"
    known_by: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    page: str = ""
    view: str = ""
    queries: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Rows of the result with their distance from the baseline, as `strength`.

        The unit is half of the interval plus half of that of the baseline, if it has one: beyond 1,
        both are clear of each other. NaN if unknown.
        """
        frame = self.evidence
        if frame.empty or self.baseline is None:
            return frame.assign(strength=np.nan)
        first, level = frame[frame["name"] == frame["name"].iloc[0]], self.baseline
        half = ((first["high"] - first["low"]) / 2).replace(0, np.nan)
        if isinstance(level, str):
            against = frame[frame["name"] == level]
            level = against["value"].to_numpy()
            half += ((against["high"] - against["low"]) / 2).fillna(0).to_numpy()
        return first.assign(strength=(first["value"] - level).abs() / half)

    @cached_property
    def side(self) -> Side:
        """Side of the baseline on which the interval of the result lies."""
        return "unsure" if self.baseline is None else compared(self.evidence, self.baseline)

    @cached_property
    def strength(self) -> float:
        """Distance of the result from its baseline, in halves of its interval; median over layers.

        NaN if unknown.
        """
        return float(self.rows["strength"].median())


Findings = Iterator[Finding]
"""Findings of a section: one, as a rule, or none."""


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


def over_layers(frame: pd.DataFrame) -> pd.Series:
    """Mean over layers of rows mean, low, high.

    The ends are means of ends: they hold even if all layers vary together.
    """
    return frame[_NUMBER].mean(skipna=False)
