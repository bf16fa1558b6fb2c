"""Behaviours of heads: names, colours and shapes, and the thresholds that the reader sets."""

import pandas as pd

from analysis.published.heads import THRESHOLDS
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.heads import head_behaviour, head_pattern
from analysis.statistics.heads.head_behaviour import BEHAVIOURS, Thresholds
from pages.charts.colours import BEHAVIOUR_COLOURS
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.say import say

_PAPER = Thresholds(**THRESHOLDS)
_SHAPES = {
    "first": "triangle-up",
    "next": "triangle-right",
    "previous": "triangle-left",
    "broad": "diamond",
    "cls": "square",
    "sep": "cross",
    "comma_period": "triangle-down",
    "other": "circle",
}


def behaviour_name(behaviour: str) -> str:
    return say(f"head_map.behaviour.{behaviour}")


def looks() -> dict[str, dict[str, str]]:
    """Colours and shapes of the behaviours by display name, in the order of the rules.

    Shapes are for readers who distinguish few hues.
    """
    return {
        "colours": {behaviour_name(name): BEHAVIOUR_COLOURS[name] for name in BEHAVIOURS},
        "shapes": {behaviour_name(name): _SHAPES[name] for name in BEHAVIOURS},
    }


def has_habits(store: Store) -> bool:
    """Return True if the file holds the habits of heads."""
    return store.holds(head_pattern.TABLE)


def behaviours_of_heads(
    inquiry: Inquiry, thresholds: Thresholds = _PAPER, *, weighing: str = WEIGHT, by: str = "mean"
) -> pd.DataFrame:
    """Every head with its main behaviour; empty if the file has no habits.

    Args:
        by: number compared with the thresholds: mean, or an end of its interval, low or high.

    Returns:
        layer, head, behaviour, name.
    """
    frame = inquiry.ask(head_behaviour.behaviours, **vars(thresholds), weighing=weighing, by=by)
    return frame.assign(name=frame["behaviour"].map(behaviour_name))
