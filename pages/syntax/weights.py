"""The weights between the words of a sentence, which a head's arcs are made of."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.probing import word_attention
from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import ramp, tooltips
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.words.columns import title

_COLUMNS = ("attending", "attended", "attention")


def weights(view: View, words: pd.DataFrame, *, seq: int, layer: int, head: int) -> None:
    """A map of the sentence where the file keeps its weights; it does so of the first texts alone.

    Args:
        words: one sentence's rows word, form, governor, sentence.
    """
    if not open_store().holds(word_attention.TABLE):
        return
    found = ask(word_attention.of_head, seq=seq, layer=layer, head=head)
    found = found[found["word"].isin(words["word"]) & found["candidate"].isin(words["word"])]
    if found.empty:
        st.caption(view.say("weights_none", n=word_attention.SHOWN))
        return
    state = f"{seq}_{words['sentence'].iloc[0]}_{layer}_{head}"
    view.figure("weights", found, weight_map(found, words), state=state)


def weight_map(found: pd.DataFrame, words: pd.DataFrame) -> Any:
    """Words that attend down, words that are attended to across; governors have a frame.

    Args:
        found: rows word, candidate, attention.
    """
    forms = zip(words["word"].tolist(), words["form"], strict=True)
    names = {word: f"{form} {place}" for place, (word, form) in enumerate(forms, start=1)}
    governors = dict(zip(words["word"], words["governor"], strict=True))
    shown = found.assign(
        attending=found["word"].map(names),
        attended=found["candidate"].map(names),
        governs=found["word"].map(governors) == found["candidate"],
    )
    order = list(names.values())
    axis: dict[str, Any] = {"labelOverlap": False, "labelLimit": 120, "ticks": False}
    slanted, flat = alt.Axis(labelAngle=-60, **axis), alt.Axis(**axis)
    base = alt.Chart(shown).encode(
        x=alt.X("attended:N", title=title("attended"), sort=order, axis=slanted),
        y=alt.Y("attending:N", title=title("attending"), sort=order, axis=flat),
        tooltip=tooltips(dict.fromkeys(_COLUMNS), shown, ".1%"),
    )
    scale = alt.Scale(type="sqrt", scheme="viridis", domainMin=0)
    colour = alt.Color("attention:Q", title=title("attention"), scale=scale, legend=ramp(".0%"))
    rings = base.transform_filter("datum.governs")
    rings = rings.mark_rect(filled=False, stroke=MARKED, strokeWidth=2)
    cells = base.mark_rect().encode(color=colour)
    return alt.layer(cells, rings).properties(height=21 * len(names) + 110)
