"""Display names, units and groups of habits."""

from collections.abc import Sequence

import pandas as pd

from pages.charts.colours import HABIT_COLOURS
from pages.words.numbers import percent
from pages.words.say import say

_NATS = ("entropy", "entropy_cls", "uniform")
GROUPS = {
    "special": ("first", "cls", "sep", "comma_period"),
    "neighbours": ("previous", "self", "next"),
    "from_sep": ("sep_to_sep", "other_to_sep"),
}
"""Shares that are drawn in one chart."""
HABITS = tuple(habit for habit in HABIT_COLOURS if habit != "uniform")
"""Habits of heads; `uniform` is their baseline."""
SHARES = tuple(habit for habit in HABIT_COLOURS if habit not in _NATS)


def habit_name(quantity: str) -> str:
    """Display name of a habit in figures."""
    return say(f"habits.column.{quantity}")


def habit_value(quantity: str, value: float) -> str:
    """Format a share in per cent, an entropy in nats."""
    if quantity in _NATS:
        return say("habits.nats", value=f"{value:.2f}")
    return percent(value)


def of_habits(frame: pd.DataFrame, habits: Sequence[str]) -> pd.DataFrame:
    """Rows of some habits, in their order, with `quantity` renamed to `habit`."""
    rows = frame.rename(columns={"quantity": "habit"}).dropna(subset="mean")
    rows = rows[rows["habit"].isin(habits)].sort_values("layer")
    return rows.sort_values("habit", key=lambda column: column.map(habits.index), kind="stable")
