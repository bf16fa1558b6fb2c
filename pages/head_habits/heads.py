"""Every head at once: a map of one habit, and a table of all of them."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_pattern, sequence_head_pattern
from pages.head_habits.head_choice import follow_click, opened_head
from pages.ui.about import about
from pages.ui.charts.head_map import from_zero, head_map
from pages.ui.choices.clicks import clickable, fresh_click, remember
from pages.ui.choices.pick import pick, pick_many
from pages.ui.figure import table
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads
from pages.ui.head.choice import choose_head
from pages.ui.head.habits import HABIT_COLOURS, SHARES, habit_name, share_title
from pages.ui.store.chosen import ask, require
from pages.ui.weighing import pick_weighing
from pages.ui.words.say import say

_MAP, _TABLE = "hh_map", "hh_table"
_HABITS = tuple(each for each in HABIT_COLOURS if each != "uniform")


def show() -> None:
    require(head_pattern.TABLE)
    follow_click(_MAP)
    st.header(say("head_habits.heads.title"), anchor=False)
    weighing = pick_weighing("hh")
    heads = ask(head_pattern.heads, weighing=weighing).dropna(subset="mean")
    present = [each for each in _HABITS if (heads["quantity"] == each).any()]
    quantity = pick(
        "hh_quantity",
        say("head_habits.heads.habit"),
        present,
        default=present[0],
        format=habit_name,
        kind="pills",
    )
    map_place, card_place, table_place = (st.container() for _ in range(3))
    with table_place:
        shown = _filtered(_wide(heads, present, weighing))
    _follow_row(shown)
    with card_place:
        marked = opened_head()
    with map_place:
        of_quantity = heads[heads["quantity"] == quantity]
        _map(of_quantity, quantity=quantity, weighing=weighing, marked=marked)
    with table_place:
        _table(shown, present, weighing, marked)
    about(head_pattern.TABLE, sequence_head_pattern.TABLE)


def _wide(heads: pd.DataFrame, present: list[str], weighing: str) -> pd.DataFrame:
    """One row per head: what it mostly does, and every habit that it has."""
    wide = heads.pivot(index=["layer", "head"], columns="quantity", values="mean")[present]
    found = behaviours_of_heads(weighing=weighing)[["layer", "head", "behaviour"]]
    return found.merge(wide.reset_index(), on=["layer", "head"], how="right")


def _filtered(wide: pd.DataFrame) -> pd.DataFrame:
    """The heads of the behaviours that the reader chose; all unless some are chosen."""
    present = list(dict.fromkeys(wide["behaviour"].sort_values()))
    chosen = pick_many(
        "hh_behaviours",
        say("head_habits.heads.behaviours"),
        present,
        default=[],
        format=behaviour_name,
        help=say("head_habits.heads.behaviours_help"),
    )
    return wide[wide["behaviour"].isin(chosen or present)].reset_index(drop=True)


def _follow_row(shown: pd.DataFrame) -> None:
    """Choose the head whose row was clicked, before the picker is drawn."""
    for row in fresh_click(_TABLE).get("rows", [])[:1]:
        if row < len(shown):
            choose_head(int(shown["layer"][row]), int(shown["head"][row]))


def _map(frame: pd.DataFrame, *, quantity: str, weighing: str, marked: tuple[int, int]) -> None:
    share = quantity in SHARES
    clickable(
        head_map(
            frame,
            "mean",
            share_title(weighing) if share else say(f"head_habits.breadth.axis_{weighing}"),
            from_zero(float(frame["mean"].max())),
            format=".1%" if share else ".2f",
            told={"low": say("head_habits.low"), "high": say("head_habits.high")},
            marked=marked,
        ),
        _MAP,
        key=f"hh_map_{quantity}_{weighing}_{marked[0]}_{marked[1]}",
        question=say(
            f"head_habits.heads.question_{'share' if share else 'entropy'}",
            habit=habit_name(quantity),
        ),
        caption=say(f"head_habits.heads.map_caption_{weighing}"),
        frame=frame,
    )


def _table(shown: pd.DataFrame, present: list[str], weighing: str, marked: tuple[int, int]) -> None:
    number = st.column_config.NumberColumn
    columns = {
        "layer": number(say("axis.layer"), format="%d"),
        "head": number(say("axis.head"), format="%d"),
        "told": say("head_habits.heads.behaviour"),
        **{
            each: number(habit_name(each), format="percent" if each in SHARES else "%.2f")
            for each in present
        },
    }
    key = f"hh_table_{weighing}_{marked[0]}_{marked[1]}_{len(shown)}"
    event = table(
        shown.assign(told=shown["behaviour"].map(behaviour_name)),
        key=key,
        question=say("head_habits.heads.table_question"),
        caption=say(f"head_habits.heads.table_caption_{weighing}"),
        columns=columns,
        on_select="rerun",
        selection_mode="single-row",
        placeholder="—",
    )
    remember(_TABLE, key, event)
