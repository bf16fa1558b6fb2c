"""Findings of the overview: a sentence with its number, its evidence and where more is shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pages.ui.words.interval import Side, side_of

_ENDS = (np.nan, np.nan)
_NUMBER = ["mean", "low", "high"]


@dataclass(frozen=True)
class Finding:
    """A number under its label, the sentence that says what it means, the section that shows it.

    `evidence` are rows name, value, low and high, with their `layer` where there are some of every
    layer; the number is among them and in the section. The rows of its first name are what was
    found; `baseline` is what that is compared with, a value or the name of other rows, and the
    sentence is chosen by `compared`. `format` is that of the values. `known_by` says how sure it
    is where no interval does. `choices` of the section are those under which it shows the number,
    where they are not the usual ones. `page` is told by who gathers findings of several pages.
    """

    label: str
    number: str
    sentence: str
    view: str
    evidence: pd.DataFrame
    baseline: float | str | None = None
    format: str = ".0%"
    known_by: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    page: str = ""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of what was found, with their distance from the baseline in halves of their
        interval and of that of the baseline, if it has one, as `strength`: beyond 1, they are clear
        of each other; NaN where that is not known."""
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
        """Side of the baseline on which the interval of what was found lies."""
        return "unsure" if self.baseline is None else compared(self.evidence, self.baseline)

    @cached_property
    def strength(self) -> float:
        """How far what was found is from its baseline, in halves of its interval; over layers the
        median. NaN if that is not known."""
        return float(self.rows["strength"].median())


def compared(evidence: pd.DataFrame, baseline: float | str) -> Side:
    """Side of the baseline on which the interval of the first row lies."""
    first = evidence.iloc[0]
    if not isinstance(baseline, str):
        return side_of(first["low"], first["high"], baseline)
    other = evidence[evidence["name"] == baseline].iloc[0]
    level, highest = other[["low", "high"]].fillna(other["value"])
    return side_of(first["low"], first["high"], level, highest)


def rows_of(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Evidence that is not of single layers: a name, a value, and its interval if it has one."""
    full = [(*row, *_ENDS)[:4] for row in rows]
    return pd.DataFrame(full, columns=["name", "value", "low", "high"])


def share_of(frame: pd.DataFrame, own: pd.Series) -> pd.Series:
    """Share of some rows in the sum of all: mean, low, high.

    The ends hold even where all rows vary together: the low ends of the own ones against the high
    ends of the others, and the other way round.

    Args:
        frame: rows mean, low, high.
        own: whether a row is one of those.
    """
    of_own, others = (frame.loc[which, _NUMBER].sum(skipna=False) for which in (own, ~own))
    sides = {"mean": "mean", "low": "high", "high": "low"}
    return pd.Series({end: of_own[end] / (of_own[end] + others[o]) for end, o in sides.items()})


def over_layers(frame: pd.DataFrame) -> pd.Series:
    """Mean over layers of rows mean, low, high, with the means of their ends: these hold even where
    all layers vary together."""
    return frame[_NUMBER].mean(skipna=False)
