"""What differs between attention by its weights and by the norms of what they bring."""

from typing import Any

import pandas as pd

from pages.ui.words.numbers import points
from pages.ui.words.say import say


def is_clear(low: float, high: float) -> bool:
    """Whether an interval leaves out 0."""
    return low > 0 or high < 0


def difference_text(row: Any) -> str:
    """A difference of shares with its interval if there is one, in points.

    Args:
        row: with difference, low and high.
    """
    difference, low, high = (
        points(row[column], digits=1) for column in ("difference", "low", "high")
    )
    if pd.isna(row["low"]):
        return say("weighing.difference_alone", difference=difference)
    return say("weighing.difference", difference=difference, low=low, high=high)
