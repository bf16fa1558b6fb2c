"""All heads: a map of one habit, and a table of all habits."""

from functools import partial

import pandas as pd
import streamlit as st

from analysis.statistics.heads import head_pattern
from analysis.statistics.heads.head_behaviour import OTHER
from analysis.statistics.norms.weighing import DIFFERENCE
from pages.habits.change import change
from pages.habits.opened_head import opened_head
from pages.ui.charts.head_map import head_map
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads, habits_sentence
from pages.ui.head.choice import Head, head_of, to_head
from pages.ui.head.habits import HABITS, SHARES, habit_name, habit_value, of_habits, share_title
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.lines import with_capital
from pages.ui.words.say import say

_CLICKED = ("map_share", "map_entropy", "table")


def _summary(inquiry: Inquiry) -> Findings:
    """Count the heads with a dominant habit, by habit."""
    heads = behaviours_of_heads(inquiry)
    counts = heads["behaviour"].value_counts()
    surely = behaviours_of_heads(inquiry, by="low")["behaviour"] != OTHER
    of, some = len(heads), int((heads["behaviour"] != OTHER).sum())
    if not some:
        return
    rows = [(say("finding.habits_any"), some)]
    rows += [(behaviour_name(str(behaviour)), many) for behaviour, many in counts.items()]
    yield Finding(
        say("finding.label_habits"),
        say("finding.habits_number", n=some, of=of),
        f"{say('finding.habits')} {habits_sentence(heads)}",
        rows_of(rows),
        format=",.0f",
        known_by=say("finding.habits_known_by", n=int(surely.sum()), of=some),
    )


@section(
    "heads",
    head_pattern.TABLE,
    also=(head_pattern.PER_SEQUENCE, head_pattern.DIFFERENCE),
    findings=_summary,
)
def heads(view: View) -> None:
    weighing = view.pick_weighing(DIFFERENCE)
    if weighing == DIFFERENCE:
        return change(view)
    frame = of_habits(view.ask(head_pattern.heads, weighing=weighing), HABITS)
    habit = view.pick("quantity", frame["habit"].unique().tolist(), of="habit", kind="pills")
    is_share, of_habit = habit in SHARES, frame[frame["habit"] == habit]
    marked = opened_head(view)
    view.finding(_finding(view, habit, of_habit))
    view.finding(habits_sentence(behaviours_of_heads(view, weighing=weighing)))
    title = share_title(weighing) if is_share else view.say(f"entropy_axis_{weighing}")
    chart = head_map(
        of_habit,
        "mean",
        title,
        format=".1%" if is_share else ".2f",
        tooltip=("low", "high"),
        marked=marked,
    )
    view.figure(
        "map_share" if is_share else "map_entropy",
        of_habit,
        chart,
        state=(habit, weighing, *marked),
        click=to_head,
        caption=view.say(f"map_caption_{weighing}"),
        habit=habit_name(habit),
    )
    _table(view, frame, weighing, marked)


def _finding(view: View, habit: str, frame: pd.DataFrame) -> str:
    """Name the head with most of a habit, with the median head."""
    most = frame.nlargest(1, "mean").iloc[0]
    return view.say(
        "finding",
        habit=with_capital(habit_name(habit)),
        most=head_of(most),
        value=row_with_interval(most, written=partial(habit_value, habit)),
        median=habit_value(habit, frame["mean"].median()),
    )


def _table(view: View, frame: pd.DataFrame, weighing: str, marked: Head) -> None:
    """Tabulate every head with its main behaviour and all its habits.

    The reader may restrict the table to some behaviours.
    """
    wide = frame.pivot(index=["layer", "head"], columns="habit", values="mean").reset_index()
    behaviours = behaviours_of_heads(view, weighing=weighing)[["layer", "head", "behaviour"]]
    wide = behaviours.merge(wide, on=["layer", "head"], how="right")
    present = list(dict.fromkeys(wide["behaviour"].sort_values()))
    chosen = view.pick_many("behaviours", present, format=behaviour_name)
    shown = wide[wide["behaviour"].isin(chosen or present)].reset_index(drop=True)
    view.table(
        "table",
        shown.assign(behaviour=shown["behaviour"].map(behaviour_name)),
        ["layer", "head", "behaviour"],
        settings={
            habit: st.column_config.NumberColumn(
                habit_name(habit), format="percent" if habit in SHARES else "%.2f"
            )
            for habit in frame["habit"].unique()
        },
        state=(weighing, *marked, len(shown)),
        click=to_head,
        caption=view.say(f"table_caption_{weighing}"),
    )
