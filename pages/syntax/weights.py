"""How much attention stands behind a head's arcs: the weights between the words of a sentence."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.probing import word_attention
from pages.ui.charts.look import ramp
from pages.ui.figure import figure
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.say import say

_CELL, _AROUND = 21, 110
_RING = "#ff5a36"


def weights(words: pd.DataFrame, *, seq: int, sentence: int, layer: int, head: int) -> None:
    """A map of the sentence where the file keeps its weights; it does so of the first texts alone.

    Args:
        words: one sentence's rows word, form, governor.
    """
    if not open_store().rows.get(word_attention.TABLE.name):
        return
    found = ask(word_attention.of_head, seq=seq, layer=layer, head=head)
    inside = found["word"].isin(words["word"]) & found["candidate"].isin(words["word"])
    found = found[inside]
    if found.empty:
        st.caption(say("syntax.weights.none", n=word_attention.SHOWN))
        return
    question = say("syntax.weights.question")
    figure(
        weight_map(found, words),
        key=f"sy_weights_{seq}_{sentence}_{layer}_{head}",
        question=question,
        caption=say("syntax.weights.caption"),
        frame=found,
        alt=question,
    )


def weight_map(found: pd.DataFrame, words: pd.DataFrame) -> Any:
    """Words that look down, words that are looked at across; governors have a frame.

    Args:
        found: rows word, candidate, attention.
    """
    told = zip(words["word"].tolist(), words["form"], strict=True)
    names = {word: f"{form} {place}" for place, (word, form) in enumerate(told, start=1)}
    governors = dict(zip(words["word"], words["governor"], strict=True))
    shown = found.assign(
        looks=found["word"].map(names),
        seen=found["candidate"].map(names),
        governs=found["word"].map(governors) == found["candidate"],
    )
    axis: dict[str, Any] = {"labelOverlap": False, "labelLimit": 120, "ticks": False}
    order = list(names.values())
    base = alt.Chart(shown).encode(
        x=alt.X(
            "seen:N",
            title=say("syntax.weights.seen"),
            sort=order,
            axis=alt.Axis(labelAngle=-60, **axis),
        ),
        y=alt.Y("looks:N", title=say("syntax.weights.looks"), sort=order, axis=alt.Axis(**axis)),
        tooltip=[
            alt.Tooltip("looks:N", title=say("syntax.weights.looks")),
            alt.Tooltip("seen:N", title=say("syntax.weights.seen")),
            alt.Tooltip("attention:Q", title=say("syntax.weights.weight"), format=".1%"),
        ],
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "attention:Q",
            title=say("syntax.weights.weight"),
            scale=alt.Scale(type="sqrt", scheme="viridis", domainMin=0),
            legend=ramp(".0%"),
        )
    )
    rings = base.transform_filter("datum.governs").mark_rect(
        filled=False, stroke=_RING, strokeWidth=2
    )
    return alt.layer(cells, rings).properties(height=_CELL * len(names) + _AROUND)
