"""Change of every habit, with its interval, when attention is weighted by norms."""

from functools import partial

import pandas as pd

from analysis.statistics.heads import head_pattern
from pages.head_habits.opened_head import opened_head
from pages.ui.charts.head_map import around_zero, head_map
from pages.ui.head.choice import to_head
from pages.ui.head.habits import HABITS, SHARES, habit_name, habit_value
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import change, points

_COUNTS = ("n_less", "n_more", "n_unclear")


@section("weighing", head_pattern.DIFFERENCE, also=(head_pattern.TABLE,))
def weighing(view: View) -> None:
    heads = view.ask(head_pattern.differences).rename(columns={"quantity": "habit"})
    summary = _summary(heads)
    habit = view.pick("quantity", summary.index.tolist(), of="habit", kind="pills")
    kind = "share" if habit in SHARES else "entropy"
    view.finding(_finding(view, summary.loc[habit], habit, kind))
    of_habit = heads[heads["habit"] == habit]
    marked = opened_head(view)
    chart = head_map(
        of_habit,
        "difference",
        view.say(f"axis_{kind}"),
        around_zero(of_habit["difference"]),
        format=".1%" if kind == "share" else ".2f",
        tooltip=("weight", "norm", "low", "high"),
        marked=marked,
    )
    view.figure(
        "map", of_habit, chart, state=(habit, *marked), click=to_head, habit=habit_name(habit)
    )
    written = summary.reset_index()
    for column in ("weight", "norm", "difference"):
        pairs = zip(written["habit"], written[column], strict=True)
        written[column] = [_written(view, habit, value, column) for habit, value in pairs]
    columns = ["habit", "weight", "norm", "difference", *_COUNTS]
    view.table("table", written, columns, options={"height": "content"})


def _summary(heads: pd.DataFrame) -> pd.DataFrame:
    """Means over heads, and the number of heads whose difference is clear of 0 on either side.

    Returns:
        a row per habit: weight, norm, difference, n_less, n_more, n_unclear, n.
    """
    sided = heads.assign(n_less=heads["high"] < 0, n_more=heads["low"] > 0)
    sided["n_unclear"] = ~(sided["n_less"] | sided["n_more"])
    grouped = sided.groupby("habit")
    means = grouped[["weight", "norm", "difference"]].mean()
    summary = means.join(grouped[list(_COUNTS)].sum()).assign(n=grouped.size())
    return summary.loc[[habit for habit in HABITS if habit in summary.index]]


def _finding(view: View, row: pd.Series, habit: str, kind: str) -> str:
    return view.say(
        f"finding_{kind}",
        habit=habit_name(habit),
        **row[["weight", "norm"]].map(partial(habit_value, habit)),
        **row[[*_COUNTS, "n"]].astype(int),
    )


def _written(view: View, habit: str, value: float, column: str) -> str:
    """Format a value with its unit, since a column holds both shares and entropies."""
    if column != "difference":
        return habit_value(habit, value)
    if habit in SHARES:
        return f"{points(value, digits=1)} {view.say('points')}"
    return change(value)
