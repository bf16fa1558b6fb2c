"""What the paper printed of habits, beside the file's own values."""

import pandas as pd

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from pages.ui.published import Row
from pages.ui.words.say import say

_HALF = 0.5


def entropy_cls(means: pd.DataFrame) -> list[Row]:
    """How broadly [CLS] attends in the last layer."""
    own = means[(means["habit"] == ENTROPY_CLS.habit) & (means["layer"] == ENTROPY_CLS.layer)]
    name = say("head_habits.published.entropy_cls", layer=ENTROPY_CLS.layer)
    return [Row(name, ENTROPY_CLS, float(own["mean"].iloc[0]) if len(own) else None)]


def neighbours(heads: pd.DataFrame) -> list[Row]:
    """How many heads put more than half of their attention on a neighbour."""
    rows = []
    for each in NEIGHBOURS:
        own = heads.loc[heads["habit"] == each.habit, "mean"]
        name = say(f"head_habits.published.heads_{each.habit}")
        rows.append(Row(name, each, float((own > _HALF).sum()) if len(own) else None))
    return rows
