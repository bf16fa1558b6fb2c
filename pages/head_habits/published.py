"""What the paper printed of habits, beside the file's own values."""

import pandas as pd

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from pages.ui.published import Row
from pages.ui.words.say import say

_HALF = 0.5


def entropy_cls(by_layer: pd.DataFrame) -> list[Row]:
    """How broadly [CLS] attends in the last layer.

    Args:
        by_layer: rows layer, quantity, mean.
    """
    own = by_layer[by_layer["quantity"] == ENTROPY_CLS.habit]
    found = own.loc[own["layer"] == ENTROPY_CLS.layer, "mean"]
    told = say("head_habits.published.entropy_cls", layer=ENTROPY_CLS.layer)
    return [Row(told, ENTROPY_CLS, float(found.iloc[0]) if len(found) else None)]


def neighbours(heads: pd.DataFrame) -> list[Row]:
    """How many heads put more than half of their attention on a neighbour.

    Args:
        heads: rows layer, head, quantity, mean.
    """
    rows = []
    for each in NEIGHBOURS:
        own = heads[heads["quantity"] == each.habit]
        told = say(f"head_habits.published.heads_{each.habit}")
        rows.append(Row(told, each, float((own["mean"] > _HALF).sum()) if len(own) else None))
    return rows
