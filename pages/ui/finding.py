"""What a finding is: a sentence of the overview with its number and the place that shows more."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

_ENDS = (np.nan, np.nan)


@dataclass(frozen=True)
class Finding:
    """A number under its label, the sentence that says what it means, the section that shows it.

    `evidence` are rows name, value, low and high, with their `layer` where there are some of every
    layer. The rows of its first name are what was found; `baseline` is what that is compared with,
    a value or the name of other rows. `format` is that of the values.
    """

    label: str
    number: str
    sentence: str
    page: str
    view: str
    evidence: pd.DataFrame | None = None
    baseline: float | str | None = None
    format: str = ".0%"

    @property
    def found(self) -> pd.DataFrame:
        """The rows of what was found, with their distance from the baseline in halves of their
        intervals as `strength`: beyond 1, it is clear of the baseline; NaN where that is not
        known."""
        frame = pd.DataFrame() if self.evidence is None else self.evidence
        if frame.empty or self.baseline is None:
            return frame.assign(strength=np.nan)
        found, level = frame[frame["name"] == frame["name"].iloc[0]], self.baseline
        if isinstance(level, str):
            level = frame.loc[frame["name"] == level, "value"].to_numpy()
        half = ((found["high"] - found["low"]) / 2).replace(0, np.nan)
        return found.assign(strength=(found["value"] - level).abs() / half)

    @property
    def strength(self) -> float:
        """How far what was found is from its baseline, in halves of its interval; over layers the
        median. NaN if that is not known."""
        return float(self.found["strength"].median())


def rows_of(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Evidence that is not of single layers: a name, a value, and its interval if it has one."""
    full = [(*row, *_ENDS)[:4] for row in rows]
    return pd.DataFrame(full, columns=["name", "value", "low", "high"])
