"""One head: its card, its habits with intervals, and the texts in which it shows one most."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.heads import head_pattern, sequence_head_pattern
from pages.head_habits import sequences
from pages.head_habits.head_choice import pick_habits_head
from pages.ui.about import about
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.figure import figure
from pages.ui.head.card import head_card
from pages.ui.head.choice import head_name
from pages.ui.head.habits import SHARES, of_habits, share_title
from pages.ui.store.chosen import ask, require
from pages.ui.weighing import pick_weighing
from pages.ui.words.say import say


def show() -> None:
    require(head_pattern.TABLE)
    st.header(say("head_habits.one_head.title"), anchor=False)
    weighing = pick_weighing("hh")
    layer, head = pick_habits_head()
    head_card(layer=layer, head=head)
    place = {"layer": layer, "head": head}
    own = ask(head_pattern.of_head, **place, weighing=weighing).assign(**place)
    _shares(own, layer, head, weighing)
    sequences.show(own, weighing)
    about(head_pattern.TABLE, sequence_head_pattern.TABLE)


def _shares(own: pd.DataFrame, layer: int, head: int, weighing: str) -> None:
    """The shares of one head beside those of the average head of its layer."""
    means = ask(head_pattern.by_layer, weighing=weighing)
    of_layer = means[means["layer"] == layer]
    names = {"own": head_name(layer, head), "layer": say("head_habits.one_head.layer", layer=layer)}
    frame = pd.concat(
        [
            of_habits(own, SHARES).assign(whose=names["own"]),
            of_habits(of_layer, SHARES).assign(whose=names["layer"]),
        ],
        ignore_index=True,
    )
    question = say("head_habits.one_head.question", head=names["own"])
    figure(
        share_chart(frame, list(names.values()), share_title(weighing)),
        key=f"hh_shares_{weighing}_{layer}_{head}",
        question=question,
        caption=say("head_habits.one_head.caption"),
        frame=frame,
        alt=question,
    )


def share_chart(frame: pd.DataFrame, whose: list[str], title: str) -> Any:
    """A row per habit with a point and an interval for the head and for its layer.

    Args:
        frame: rows name, whose, mean, low, high.
        whose: the two names, the head's first.
        title: of the axis.
    """
    order = list(dict.fromkeys(frame["name"]))
    colour = alt.Color(
        "whose:N",
        title=" ",
        scale=alt.Scale(domain=whose, range=[SERIES_COLOURS[0], SERIES_COLOURS[4]]),
        legend=alt.Legend(orient="top", symbolType="circle", symbolOpacity=1, labelLimit=0),
    )
    axis = alt.Axis(format="%", tickCount=6)
    told = {"mean": title, "low": say("head_habits.low")}
    told["high"] = say("head_habits.high")
    base = alt.Chart(frame).encode(
        y=alt.Y("name:N", title=None, sort=order, axis=alt.Axis(labelLimit=0)),
        yOffset=alt.YOffset("whose:N", sort=whose),
        color=colour,
        tooltip=[
            alt.Tooltip("name:N", title=say("head_habits.attention_to")),
            alt.Tooltip("whose:N", title=" "),
            *(alt.Tooltip(f"{each}:Q", title=name, format=".1%") for each, name in told.items()),
        ],
    )
    rules = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("low:Q", title=title, axis=axis), x2=alt.X2("high")
    )
    points = base.mark_circle(size=70, opacity=1).encode(x=alt.X("mean:Q", title=title, axis=axis))
    height = 90 + 34 * max(frame["name"].nunique(), 1)  # the legend and the axis are in it
    return alt.layer(rules, points).properties(height=height)
