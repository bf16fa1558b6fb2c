"""What differs between attention by its weights and by the norms of what they bring."""

from typing import Any

import pandas as pd

from analysis.tables.norms.weighing import WEIGHINGS
from pages.ui.words.numbers import percent, points
from pages.ui.words.say import say


def is_clear(low: Any, high: Any) -> Any:
    """Whether an interval leaves out 0, or which of some in two columns do; no interval, no."""
    return (low > 0) | (high < 0)


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


def change_words(row: Any) -> dict[str, str]:
    """How often the best head is right by weights and by norms, and their difference."""
    shares = {method: percent(row[f"accuracy_{method}"], digits=1) for method in WEIGHINGS}
    return {**shares, "difference": difference_text(row)}
