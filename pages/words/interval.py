"""Sentences and phrases on a number's 95% interval."""

from collections.abc import Callable
from typing import Any, Literal

import pandas as pd

from pages.words.numbers import signed
from pages.words.say import say

Written = Callable[[float], str]
Side = Literal["above", "below", "unclear", "unsure"]
"""Side of a level on which an interval lies."""


def is_clear(low: Any, high: Any) -> Any:
    """Return True if an interval excludes 0, elementwise for columns; False without an interval."""
    return (low > 0) | (high < 0)


def side_of(low: Any, high: Any, level: Any = 0.0, highest: Any = None) -> Side:
    """Side of a level on which an interval lies: `unclear` if it holds it, `unsure` without one.

    Args:
        highest: upper end of the baseline, if that is an interval from `level` on.
    """
    if pd.isna(low) or pd.isna(high):
        return "unsure"
    upper = level if highest is None or pd.isna(highest) else highest
    return "above" if low > upper else "below" if high < level else "unclear"


def interval(low: float, high: float, written: Written = signed) -> str:
    """Phrase with both ends of an interval, or the reason why there is none."""
    if pd.isna(low):
        return say("interval.none")
    return say("interval.between", low=written(low), high=written(high))


def with_interval(
    number: float, low: float, high: float, written: Written = signed, *, unit: str = ""
) -> str:
    """Format a number with its interval; the number alone if it has none.

    Args:
        unit: of the number, which its interval does not repeat.
    """
    behind = "" if pd.isna(low) else f" [{written(low)}, {written(high)}]"
    return f"{written(number)}{unit}{behind}"
