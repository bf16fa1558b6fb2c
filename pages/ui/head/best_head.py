"""Facts on the best head of a question, and the settings behind them."""

import pandas as pd

from pages.ui.head.choice import head_name
from pages.ui.words.interval import ends
from pages.ui.words.numbers import count, percent

MERGING = "mean"
HALF = "first"
"""Part of the texts on which the best head is chosen; it is scored on the other."""
MIN_WORDS = 30
"""Least number of words of a relation for a fact on one head."""


def chosen_head(row: pd.Series) -> dict[str, object]:
    """Head of a row, the number of heads that it was chosen from, and its accuracy."""
    return {
        "head": head_name(int(row["layer"]), int(row["head"])),
        "tried": count(row["n_tried"]),
        "n": count(row["n"]),
        "accuracy": percent(row["accuracy"]),
        "interval": ends(row["low"], row["high"], percent),
    }
