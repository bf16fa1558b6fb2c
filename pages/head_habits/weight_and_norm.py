"""What changes in every habit when attention is weighed by norms, and how sure that is."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_pattern, head_pattern_difference
from pages.head_habits.head_choice import follow_click, opened_head
from pages.ui.about import about
from pages.ui.charts.head_map import around_zero, head_map
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.figure import table
from pages.ui.head.habits import HABIT_COLOURS, SHARES, habit_name, habit_value
from pages.ui.store.chosen import ask, require
from pages.ui.words.say import say

_MAP = "hh_difference"
_HABITS = tuple(each for each in HABIT_COLOURS if each != "uniform")


def show() -> None:
    require(head_pattern_difference.TABLE)
    follow_click(_MAP)
    st.header(say("head_habits.weighing.title"), anchor=False)
    heads = ask(head_pattern_difference.differences)
    summary = _summary(heads)
    present = summary["quantity"].tolist()
    quantity = pick(
        "hh_quantity",
        say("head_habits.heads.habit"),
        present,
        default=present[0],
        format=habit_name,
        kind="pills",
    )
    st.markdown(_finding(summary.set_index("quantity").loc[quantity], quantity))
    place = st.container()
    marked = opened_head()
    with place:
        _map(heads[heads["quantity"] == quantity], quantity, marked)
    _table(summary)
    about(head_pattern_difference.TABLE, head_pattern.TABLE)


def _summary(heads: pd.DataFrame) -> pd.DataFrame:
    """One row per habit: means over heads, and how many heads are clear of 0 on either side.

    Returns:
        quantity, weight, norm, difference, n_less, n_more, n_unclear, n.
    """
    sided = heads.assign(n_less=heads["high"] < 0, n_more=heads["low"] > 0)
    sided["n_unclear"] = ~(sided["n_less"] | sided["n_more"])
    grouped = sided.groupby("quantity")
    means = grouped[["weight", "norm", "difference"]].mean()
    counts = grouped[["n_less", "n_more", "n_unclear"]].sum()
    found = means.join(counts).assign(n=grouped.size())
    return found.reindex([each for each in _HABITS if each in found.index]).reset_index()


def _finding(row: pd.Series, quantity: str) -> str:
    return say(
        f"head_habits.weighing.finding_{'share' if quantity in SHARES else 'entropy'}",
        habit=habit_name(quantity),
        weight=habit_value(quantity, row["weight"]),
        norm=habit_value(quantity, row["norm"]),
        less=int(row["n_less"]),
        more=int(row["n_more"]),
        unclear=int(row["n_unclear"]),
        n=int(row["n"]),
    )


def _map(frame: pd.DataFrame, quantity: str, marked: tuple[int, int]) -> None:
    share = quantity in SHARES
    titles = ("weight", "norm", "low", "high")
    clickable(
        head_map(
            frame,
            "difference",
            say(f"head_habits.weighing.axis_{'share' if share else 'entropy'}"),
            around_zero(frame["difference"]),
            format=".1%" if share else ".2f",
            told={each: say(f"head_habits.weighing.{each}") for each in titles},
            marked=marked,
        ),
        _MAP,
        key=f"hh_difference_{quantity}_{marked[0]}_{marked[1]}",
        question=say("head_habits.weighing.question", habit=habit_name(quantity)),
        caption=say("head_habits.weighing.caption"),
        frame=frame,
    )


def _table(summary: pd.DataFrame) -> None:
    shown = summary.assign(
        name=summary["quantity"].map(habit_name),
        **{f"told_{each}": _told(summary, each) for each in ("weight", "norm", "difference")},
    )
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {
        "name": say("head_habits.weighing.habit"),
        **{
            f"told_{each}": say(f"head_habits.weighing.{each}")
            for each in ("weight", "norm", "difference")
        },
        **{
            each: number(say(f"head_habits.weighing.{each}"), format="%d")
            for each in ("n_less", "n_more", "n_unclear")
        },
    }
    table(
        shown,
        key="hh_differences",
        question=say("head_habits.weighing.table"),
        caption=say("head_habits.weighing.table_caption"),
        columns=columns,
        height="content",
    )


def _told(summary: pd.DataFrame, column: str) -> list[str]:
    """Values with their units: a column holds shares and entropies."""
    pairs = zip(summary["quantity"], summary[column], strict=True)
    return [_signed(quantity, value, column) for quantity, value in pairs]


def _signed(quantity: str, value: float, column: str) -> str:
    if column != "difference":
        return habit_value(quantity, value)
    written = f"{100 * value:+.1f} {say('head_habits.weighing.points')}"
    if quantity not in SHARES:
        written = f"{value:+.2f}"
    return written.replace("-", "−")
