"""What a finding is: a sentence of the overview with its number and the place that shows more."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

_ENDS = (np.nan, np.nan)


@dataclass(frozen=True)
class Finding:
    """A number under its label, the sentence that says what it means, the section that shows it.

    `evidence` are rows name, value, low and high, with their `layer` where there are some of every
    layer. The rows of its first name are what was found; `baseline` is what that is compared with,
    a value or the name of other rows. `format` is that of the values. `known_by` says how sure it
    is where no interval does. `page` is told by who gathers findings of several pages.
    """

    label: str
    number: str
    sentence: str
    view: str
    evidence: pd.DataFrame | None = None
    baseline: float | str | None = None
    format: str = ".0%"
    known_by: str = ""
    page: str = ""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of what was found, with their distance from the baseline in halves of their
        interval and of that of the baseline, if it has one, as `strength`: beyond 1, they are clear
        of each other; NaN where that is not known."""
        frame = pd.DataFrame() if self.evidence is None else self.evidence
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
    def strength(self) -> float:
        """How far what was found is from its baseline, in halves of its interval; over layers the
        median. NaN if that is not known."""
        return float(self.rows["strength"].median())


def rows_of(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Evidence that is not of single layers: a name, a value, and its interval if it has one."""
    full = [(*row, *_ENDS)[:4] for row in rows]
    return pd.DataFrame(full, columns=["name", "value", "low", "high"])


def shares_by_layer(frame: pd.DataFrame, own: pd.Series, name: str) -> pd.DataFrame:
    """The share of some types in what all types sum up to, layer by layer, as evidence.

    The ends hold even where all types vary together: each type's low end against the high ends of
    the others, and the other way round.

    Args:
        frame: rows layer, mean, low, high, one per layer and type.
        own: whether a row is of one of those types.
    """
    numbers = ["mean", "low", "high"]
    of_own, others = (
        frame[which].groupby("layer")[numbers].sum(skipna=False) for which in (own, ~own)
    )
    ends = {"value": ("mean", "mean"), "low": ("low", "high"), "high": ("high", "low")}
    shares = {key: of_own[end] / (of_own[end] + others[rest]) for key, (end, rest) in ends.items()}
    return pd.DataFrame(shares).reset_index().assign(name=name)
