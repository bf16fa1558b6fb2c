"""Whether the same heads are alike by weights and by norms."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, head_distance_agreement, layer_cohesion
from analysis.tables.norms.weighing import WEIGHINGS
from pages.head_map.head_choice import card_of, follow_click, pick_map_head
from pages.head_map.layers import told_p
from pages.head_map.pairs import told_nats
from pages.ui.about import about
from pages.ui.charts.head_map import head_map
from pages.ui.choices.clicks import clickable
from pages.ui.figure import table
from pages.ui.head.choice import Head
from pages.ui.store.chosen import ask, require
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.say import say

_MAP = "hm_agreement"
_LEVEL = 0.05


def show() -> None:
    require(head_distance_agreement.TABLE)
    follow_click(_MAP)
    st.header(say("head_map.weighing.title"), anchor=False)
    st.markdown(say("head_map.weighing.meaning"))
    frame = ask(head_distance_agreement.agreement)
    heads = frame.dropna(subset="layer").astype({"layer": "int64", "head": "int64"})
    st.markdown(_finding(frame[frame["layer"].isna()].iloc[0]))
    place = st.container()
    head = pick_map_head()
    with place:
        _map(heads, head)
    card_of(head)
    _cohesion()
    about(head_distance_agreement.TABLE, head_distance.TABLE, layer_cohesion.TABLE)


def _finding(row: pd.Series) -> str:
    """How far both orders of all pairs agree, and whether norms bring heads nearer together."""
    if pd.isna(row["spearman"]):
        return say("head_map.weighing.none")
    told = {"rho": signed(row["spearman"]), "p": told_p(row["p_value"])}
    clear = "clear" if row["p_value"] < _LEVEL else "unclear"
    return say(
        f"head_map.weighing.finding_{clear}",
        **told,
        n=count(row["n_permutations"]),
        same=percent(row["same_nearest"]),
        weight=told_nats(row["weight"]),
        norm=told_nats(row["norm"]),
    )


def _map(heads: pd.DataFrame, head: Head) -> None:
    """Of which heads the others stand in another order, and how far away they are."""
    titles = {
        "weight": say("head_map.weighing.weight"),
        "norm": say("head_map.weighing.norm"),
        "same_nearest": say("head_map.weighing.same_nearest"),
    }
    clickable(
        head_map(
            heads,
            "spearman",
            say("head_map.weighing.rho"),
            alt.Scale(scheme="viridis", domain=[min(0.0, heads["spearman"].min()), 1.0]),
            format=".2f",
            told=titles,
            marked=head,
        ),
        _MAP,
        key=f"hm_agreement_{head[0]}_{head[1]}",
        question=say("head_map.weighing.question"),
        caption=say("head_map.weighing.caption"),
        frame=heads,
    )


def _cohesion() -> None:
    """Cohesion of every layer under both, side by side."""
    parts = [
        ask(layer_cohesion.cohesion, weighing=each)[["layer", "difference", "p_value"]].rename(
            columns={"difference": f"difference_{each}", "p_value": f"p_value_{each}"}
        )
        for each in WEIGHINGS
    ]
    if any(part.empty for part in parts):
        return
    frame = parts[0].assign(**parts[1].drop(columns="layer"))
    named = [
        say("head_map.layers.all") if pd.isna(each) else f"{each:g}" for each in frame["layer"]
    ]
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {"layer": say("axis.layer")}
    for way in WEIGHINGS:
        columns[f"difference_{way}"] = number(
            say(f"head_map.weighing.difference_{way}"), format="%.3f"
        )
        columns[f"p_value_{way}"] = number(say(f"head_map.weighing.p_value_{way}"), format="%.4f")
    table(
        frame.assign(layer=named),
        key="hm_cohesion_both",
        question=say("head_map.weighing.table"),
        caption=say("head_map.weighing.table_caption"),
        columns=columns,
        height="content",
    )
