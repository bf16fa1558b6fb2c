"""What the paper printed of habits, beside the file's own values."""

import pandas as pd

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from pages.ui.published import Row
from pages.ui.words.say import say

_HALF = 0.5


def entropy_cls(means: pd.DataFrame) -> list[Row]:
    """How broadly [CLS] attends in the last layer."""
    entropy = means[(means["habit"] == ENTROPY_CLS.habit) & (means["layer"] == ENTROPY_CLS.layer)]
    name = say("head_habits.published.entropy_cls", layer=ENTROPY_CLS.layer)
    return [Row(name, ENTROPY_CLS, float(entropy["mean"].iloc[0]) if len(entropy) else None)]


def neighbours(heads: pd.DataFrame) -> list[Row]:
    """How many heads put more than half of their attention on a neighbour."""
    rows = []
    for number in NEIGHBOURS:
        shares = heads.loc[heads["habit"] == number.habit, "mean"]
        name = say(f"head_habits.published.heads_{number.habit}")
        rows.append(Row(name, number, float((shares > _HALF).sum()) if len(shares) else None))
    return rows
