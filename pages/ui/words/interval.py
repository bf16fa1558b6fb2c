"""A number's 95 % interval in words."""

from collections.abc import Callable

import pandas as pd

from pages.ui.words.numbers import signed
from pages.ui.words.say import say

Written = Callable[[float], str]


def interval(low: float, high: float, written: Written = signed) -> str:
    """Between which values a number lies, or the reason why that is not known."""
    if pd.isna(low):
        return say("interval.none")
    return say("interval.between", low=written(low), high=written(high))


def with_interval(
    number: float, low: float, high: float, written: Written = signed, *, unit: str = ""
) -> str:
    """A number with its interval after it; the number alone if it has none.

    Args:
        unit: of the number, which its interval does not repeat.
    """
    ends = "" if pd.isna(low) else f" [{written(low)}, {written(high)}]"
    return f"{written(number)}{unit}{ends}"
