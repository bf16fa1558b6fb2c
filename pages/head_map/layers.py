"""Whether heads of one layer attend more alike than heads of different layers."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, layer_cohesion
from pages.head_map.cohesion_chart import cohesion_chart
from pages.head_map.pairs import told_nats
from pages.ui.about import about
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, require
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_LEVEL = 0.05


def show() -> None:
    require(layer_cohesion.TABLE)
    st.header(say("head_map.layers.title"), anchor=False)
    st.markdown(say("head_map.layers.meaning"))
    weighing = pick_weighing("hm")
    frame = ask(layer_cohesion.cohesion, weighing=weighing)
    layers = frame.dropna(subset="layer").astype({"layer": "int64"})
    st.markdown(_finding(frame[frame["layer"].isna()].iloc[0], layers))
    question = say("head_map.layers.chart")
    figure(
        cohesion_chart(layers),
        key=f"hm_cohesion_{weighing}",
        question=question,
        caption=weighed(weighing, say("head_map.layers.chart_caption")),
        frame=layers,
        alt=question,
    )
    _table(frame, weighing)
    about(layer_cohesion.TABLE, head_distance.TABLE)


def _finding(over_all: pd.Series, layers: pd.DataFrame) -> str:
    clear = over_all["p_value"] < _LEVEL
    told = say(
        f"head_map.layers.finding_{'clear' if clear else 'unclear'}",
        within=told_nats(over_all["within"]),
        between=told_nats(over_all["between"]),
        p=told_p(over_all["p_value"]),
        n=count(over_all["n_permutations"]),
    )
    own = layers.loc[layers["p_value"] < _LEVEL, "layer"].astype(str).tolist()
    named = say("list.comma").join(own)
    each = say("head_map.layers.each", layers=named, some=len(own), n=len(layers))
    return f"{told} {each if own else say('head_map.layers.none', n=len(layers))}"


def told_p(p_value: float) -> str:
    """Two figures, without a power of ten."""
    return f"{p_value:.4f}" if p_value < 0.01 else f"{p_value:.2f}"


def _table(frame: pd.DataFrame, weighing: str) -> None:
    named = frame["layer"].map(
        lambda each: say("head_map.layers.all") if pd.isna(each) else f"{each:g}"
    )
    number = st.column_config.NumberColumn
    columns = {"layer": say("axis.layer")} | {
        name: number(say(f"head_map.layers.{name}"), format=form)
        for name, form in (
            ("within", "%.3f"),
            ("between", "%.3f"),
            ("difference", "%.3f"),
            ("p_value", "%.4f"),
            ("n_permutations", "%d"),
        )
    }
    table(
        frame.assign(layer=named),
        key=f"hm_cohesion_table_{weighing}",
        question=say("head_map.layers.table"),
        caption=say("head_map.layers.table_caption"),
        columns=columns,
    )
