"""Behaviours of heads: names, colours and shapes, and the thresholds that the reader sets."""

import numpy as np
import pandas as pd

from analysis.published.heads import THRESHOLDS
from analysis.statistics.heads import head_behaviour, head_pattern
from analysis.statistics.heads.head_behaviour import BEHAVIOURS, OTHER, Thresholds
from analysis.statistics.norms.weighing import WEIGHT
from pages.ui.charts.colours import BEHAVIOUR_COLOURS
from pages.ui.choices.address import Choice
from pages.ui.items import Control
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.say import say

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
_SHARES = tuple(f"{share:.2f}" for share in np.arange(0.1, 0.96, 0.05))
_NATS = tuple(f"{nats:.1f}" for nats in np.arange(0.5, 6.01, 0.1))


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


def pick_thresholds(view: View) -> Thresholds:
    """Let the reader set the share or entropy that makes a behaviour; by default the paper's."""
    chosen = {}
    for column, (name, usual) in zip(view.split(3), vars(_PAPER).items(), strict=True):
        options, form = (_NATS, ".1f") if name == "entropy" else (_SHARES, ".2f")
        key, label = f"hm_{name}", say(f"head_map.threshold.{name}")
        help = say("head_map.threshold.help")
        with column:
            view.add(Control(key, label, "slider", dict(zip(options, options, strict=True)), help))
            chosen[name] = float(view.choices.value(Choice(key, options, f"{usual:{form}}")))
    return Thresholds(**chosen)


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


def habits_sentence(heads: pd.DataFrame) -> str:
    """Count the heads with a main behaviour, and those with each."""
    counts = heads.loc[heads["behaviour"] != OTHER, "behaviour"].value_counts()
    if counts.empty:
        return say("head_map.map.nothing_done", n=len(heads))
    counted = [
        say("head_map.map.counted", name=behaviour_name(str(name)), n=n)
        for name, n in counts.items()
    ]
    habits = say("list.comma").join(counted)
    return say("head_map.map.done", some=counts.sum(), n=len(heads), habits=habits)
