"""Where attention goes, layer by layer, every head a point (figure 2)."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_pattern, sequence_head_pattern
from analysis.tables.norms.weighing import WEIGHT
from pages.head_habits.head_choice import follow_click, opened_head
from pages.head_habits.layer_chart import layer_chart
from pages.head_habits.published import neighbours
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.head.habits import (
    FROM_SEP,
    GROUPS,
    HABIT_COLOURS,
    habit_name,
    habit_value,
    of_habits,
    share_title,
)
from pages.ui.published import beside
from pages.ui.store.chosen import ask, require, shows_images
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.say import say

_CHART = "hh_layers"
_HALF = 0.5


def show() -> None:
    require(head_pattern.TABLE)
    follow_click(_CHART)
    st.header(say("head_habits.layers.title"), anchor=False)
    weighing = pick_weighing("hh")
    group = pick(
        "hh_group",
        say("head_habits.layers.group"),
        [each for each in GROUPS if not (each == FROM_SEP and shows_images())],
        default=next(iter(GROUPS)),
        format=lambda each: say(f"head_habits.layers.group_{each}"),
    )
    means = of_habits(ask(head_pattern.by_layer, weighing=weighing), GROUPS[group])
    heads = of_habits(ask(head_pattern.heads, weighing=weighing), GROUPS[group])
    if means.empty:
        st.info(say("head_habits.layers.none"))
        return
    st.markdown(_finding(means, heads, weighing))
    place = st.container()
    marked = opened_head()
    with place:
        _chart(means, heads, group=group, weighing=weighing, marked=marked)
        if group == "neighbours" and weighing == WEIGHT:
            beside(
                *neighbours(heads),
                key="hh_neighbours",
                title=say("head_habits.published.title_neighbours"),
            )
    about(head_pattern.TABLE, sequence_head_pattern.TABLE)


def _chart(
    means: pd.DataFrame,
    heads: pd.DataFrame,
    *,
    group: str,
    weighing: str,
    marked: tuple[int, int],
) -> None:
    told = say("head_habits.layers.caption")
    if weighing == WEIGHT:  # what is said of a group has published numbers in it
        told = f"{say(f'head_habits.layers.caption_{group}')} {told}"
    clickable(
        layer_chart(
            means,
            heads,
            colours={habit_name(each): HABIT_COLOURS[each] for each in means["quantity"].unique()},
            y_title=share_title(weighing),
            marked=marked,
            format=".1%",
            y_format="%",
        ),
        _CHART,
        key=f"hh_layers_{group}_{weighing}_{marked[0]}_{marked[1]}",
        question=say(f"head_habits.layers.question_{group}"),
        caption=weighed(weighing, told),
        frame=pd.concat([means, heads], ignore_index=True),
    )


def _finding(means: pd.DataFrame, heads: pd.DataFrame, weighing: str) -> str:
    """Over all layers, what gets most; where it gets most; how many heads spend half on one."""
    over_layers = means.groupby("quantity")["mean"].mean().sort_values(ascending=False)
    told = say("list.comma").join(
        f"{habit_name(str(each))} {habit_value(str(each), value)}"
        for each, value in over_layers.items()
    )
    most = str(over_layers.index[0])
    top = means[means["quantity"] == most].nlargest(1, "mean").iloc[0]
    many = heads[heads["mean"] > _HALF]
    return say(
        f"head_habits.layers.finding_{weighing}",
        told=told,
        most=habit_name(most),
        layer=int(top["layer"]),
        share=habit_value(most, top["mean"]),
        n=many[["layer", "head"]].drop_duplicates().shape[0],
        of=heads[["layer", "head"]].drop_duplicates().shape[0],
    )
