"""How broadly heads attend: entropies by layer, of all tokens and of [CLS] alone (figure 4)."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_pattern, sequence_head_pattern
from analysis.tables.norms.weighing import WEIGHT
from pages.head_habits.head_choice import follow_click, opened_head
from pages.head_habits.layer_chart import layer_chart
from pages.head_habits.published import entropy_cls
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.head.habits import HABIT_COLOURS, habit_name, of_habits
from pages.ui.published import beside
from pages.ui.store.chosen import ask, require
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.say import say

_CHART = "hh_breadth"
_UNIFORM = "uniform"
_ENTROPIES = ("entropy", "entropy_cls")
_BROAD = 0.9  # of the entropy of a head that attends to everything alike


def show() -> None:
    require(head_pattern.TABLE)
    follow_click(_CHART)
    st.header(say("head_habits.breadth.title"), anchor=False)
    st.markdown(say("head_habits.breadth.meaning"))
    weighing = pick_weighing("hh")
    by_layer = ask(head_pattern.by_layer, weighing=weighing)
    means = of_habits(by_layer, (*_ENTROPIES, _UNIFORM))
    heads = of_habits(ask(head_pattern.heads, weighing=weighing), _ENTROPIES)
    st.markdown(_finding(means, heads, weighing))
    place = st.container()
    marked = opened_head()
    with place:
        _chart(means, heads, weighing, marked)
        if weighing == WEIGHT:
            beside(
                *entropy_cls(by_layer),
                key="hh_entropy_cls",
                title=say("head_habits.published.title_entropy"),
            )
    about(head_pattern.TABLE, sequence_head_pattern.TABLE)


def _chart(
    means: pd.DataFrame, heads: pd.DataFrame, weighing: str, marked: tuple[int, int]
) -> None:
    names = (*_ENTROPIES, _UNIFORM)
    clickable(
        layer_chart(
            means,
            heads,
            colours={
                habit_name(each): HABIT_COLOURS[each]
                for each in names
                if (means["quantity"] == each).any()
            },
            y_title=say(f"head_habits.breadth.axis_{weighing}"),
            marked=marked,
            dashed=habit_name(_UNIFORM),
            format=".2f",
        ),
        _CHART,
        key=f"hh_breadth_{weighing}_{marked[0]}_{marked[1]}",
        question=say("head_habits.breadth.question"),
        caption=weighed(weighing, say("head_habits.breadth.caption")),
        frame=pd.concat([means, heads], ignore_index=True),
    )


def _finding(means: pd.DataFrame, heads: pd.DataFrame, weighing: str) -> str:
    """The broadest layer and the narrowest, and how many heads look nearly everywhere alike."""
    entropy = means[means["quantity"] == "entropy"]
    uniform = float(means.loc[means["quantity"] == _UNIFORM, "mean"].mean())
    broad, narrow = (entropy.loc[getattr(entropy["mean"], each)()] for each in ("idxmax", "idxmin"))
    every = heads[heads["quantity"] == "entropy"]
    return say(
        f"head_habits.breadth.finding_{weighing}",
        broad=int(broad["layer"]),
        high=f"{broad['mean']:.2f}",
        narrow=int(narrow["layer"]),
        low=f"{narrow['mean']:.2f}",
        uniform=f"{uniform:.2f}",
        n=int((every["mean"] > _BROAD * uniform).sum()),
        of=len(every),
    )
