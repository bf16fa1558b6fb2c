"""Change of a habit, with its interval, when attention is weighted by norms."""

from functools import partial

import pandas as pd

from analysis.statistics.heads import head_pattern
from pages.habits.opened_head import opened_head
from pages.ui.charts.head_map import around_zero, head_map
from pages.ui.head.choice import to_head
from pages.ui.head.habits import HABITS, SHARES, habit_name, habit_value
from pages.ui.view import View


def change(view: View) -> None:
    """Draw the change of a picked habit in every head; the difference is of the same texts."""
    view.require(head_pattern.DIFFERENCE)
    heads = view.ask(head_pattern.differences).rename(columns={"quantity": "habit"})
    present = set(heads["habit"])
    habits = [habit for habit in HABITS if habit in present]
    habit = view.pick("quantity", habits, of="habit", kind="pills")
    kind, of_habit = "share" if habit in SHARES else "entropy", heads[heads["habit"] == habit]
    marked = opened_head(view)
    view.finding(_finding(view, of_habit, habit, kind))
    chart = head_map(
        of_habit,
        "difference",
        view.say(f"change_axis_{kind}"),
        around_zero(of_habit["difference"]),
        format=".1%" if kind == "share" else ".2f",
        tooltip=("weight", "norm", "low", "high"),
        marked=marked,
    )
    state = (habit, *marked)
    view.figure("change", of_habit, chart, state=state, click=to_head, habit=habit_name(habit))


def _finding(view: View, heads: pd.DataFrame, habit: str, kind: str) -> str:
    """Report the means over heads; count the heads that are clear of 0 on either side."""
    less, more = int((heads["high"] < 0).sum()), int((heads["low"] > 0).sum())
    return view.say(
        f"change_finding_{kind}",
        habit=habit_name(habit),
        **heads[["weight", "norm"]].mean().map(partial(habit_value, habit)),
        n_less=less,
        n_more=more,
        n_unclear=len(heads) - less - more,
        n=len(heads),
    )
