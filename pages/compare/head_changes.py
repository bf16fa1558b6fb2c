"""Heads of one model whose habits differ between two files, compared text by text."""

from functools import partial

import pandas as pd

from analysis.comparison.account import account
from analysis.comparison.beside import with_correction
from analysis.comparison.head_changes import (
    TABLE,
    habit_of_heads,
    head_differences,
    held_habits,
)
from pages.compare.files import can_compare_heads, pick_sides, texts_sentence
from pages.compare.numbers import LEVEL
from pages.ui.charts.head_map import around_zero, head_map
from pages.ui.head.choice import head_of, head_with_most, to_head
from pages.ui.head.habits import SHARES, habit_name, habit_value
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.store.inquiry import Asked
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.interval import with_interval
from pages.ui.words.numbers import change, points
from pages.ui.words.say import plain

_DEFAULTS = ("first", "cls")
_COLUMNS = ("layer", "head", "one", "other", "difference", "low", "high", "p", "q", "n")


@section("head_changes", TABLE, when=can_compare_heads)
def head_changes(view: View) -> None:
    sides = pick_sides(view, "head_by_head", TABLE)
    first, other = sides
    held = view.asked.ask(other, held_habits)
    habits = [habit for habit in view.asked.ask(first, held_habits) if habit in held]
    default = next((habit for habit in _DEFAULTS if habit in habits), None)
    habit = view.pick("quantity", habits, default=default, of="habit", kind="select")
    weighing = view.pick_weighing()
    choices = {"habit": habit, "weighing": weighing}
    changes = view.ask_together(_changes, first, other, **choices)
    most = changes.assign(size=changes["difference"].abs())
    head = pick_head(view, default=head_with_most(most, "size"))
    view.finding(_finding(view, sides, changes, habit))
    view.finding(texts_sentence(view, sides))
    kind = "share" if habit in SHARES else "entropy"
    form = ".1%" if kind == "share" else ".2f"
    chart = head_map(
        changes.assign(dotless=~(changes["q"] > LEVEL)),
        "difference",
        view.say(f"axis_{kind}"),
        around_zero(changes["difference"]),
        format=form,
        legend_format="~%" if kind == "share" else ".2~f",
        tooltip=("one", "other", "low", "high", "q"),
        marked=head,
        clear="dotless",
    )
    state = (habit, weighing, other.key)
    name = habit_name(habit)
    dots = view.say("map_dots") if (changes["q"] > LEVEL).any() else ""
    view.figure(
        "map",
        changes,
        chart,
        state=(*state, *head),
        click=to_head,
        weighing=weighing,
        caption=f"{view.say('map_caption')} {dots}".strip(),
        habit=name,
        file=plain(other.label),
    )
    columns: dict[str, str | None] = {**dict.fromkeys(_COLUMNS), "p": "%.2g", "q": "%.2g"}
    ordered = changes.sort_values("difference", key=abs, ascending=False)
    view.table("all", ordered, columns, state=state, habit=name)


def _finding(view: View, sides: list[Store], changes: pd.DataFrame, habit: str) -> str:
    """Say how many heads differ, and which one most."""
    values = {
        "habit": habit_name(habit),
        "first": plain(sides[0].label),
        "other": plain(sides[1].label),
        "of": int(changes["q"].notna().sum()),
        "n": int(changes["differs"].sum()),
    }
    if not values["n"]:
        return view.say("finding_none" if values["of"] else "finding_unsure", **values)
    clear = changes[changes["differs"]]
    most = clear.sort_values("difference", key=abs, ascending=False).iloc[0]
    is_share = habit in SHARES
    written = partial(points, digits=1) if is_share else change
    unit = view.say("unit_share" if is_share else "unit_entropy")
    return view.say(
        "finding",
        **values,
        head=head_of(most),
        one=habit_value(habit, most["one"]),
        to=habit_value(habit, most["other"]),
        change=with_interval(most["difference"], most["low"], most["high"], written, unit=unit),
    )


def _changes(
    asked: Asked, first: Store, other: Store, *, habit: str, weighing: str
) -> pd.DataFrame:
    sides = (
        (
            asked.ask(store, account),
            asked.ask(store, habit_of_heads, habit=habit, weighing=weighing),
        )
        for store in (first, other)
    )
    changes = with_correction(head_differences(*sides, seed=int(first.run["seed"])))
    return changes.assign(differs=changes["q"] <= LEVEL)
