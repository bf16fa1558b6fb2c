"""Every place where a pair occurs, to be read: both tokens marked, and what a step does there."""

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair_occurrence
from pages.token_pairs.choices import PAIR
from pages.token_pairs.maps import occurrence_maps
from pages.ui.charts.colours import SOURCE_AND_TARGET
from pages.ui.charts.pieces import readable
from pages.ui.choices.links import link_to_sequence
from pages.ui.figure import source
from pages.ui.live import door as live
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.numbers import count, points
from pages.ui.words.say import plain, say

PAGE = 5
_MOST = 1_000
_STYLE = """<style>
.tp-text {{white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.75; font-size: .95rem}}
.tp-text mark {{color: inherit; border-radius: 3px; padding: .1em .15em; unicode-bidi: isolate}}
.tp-text .tp-source {{background: {0}48; outline: 1.5px solid {0}}}
.tp-text .tp-target {{background: {1}48; outline: 1.5px dashed {1}}}
</style>""".format(*SOURCE_AND_TARGET)


def sentences(view: View, ids: dict[str, int], *, layer: int, effect: str) -> None:
    """A page of occurrences, and the maps of one of them where the model is to be run."""
    st.subheader(view.say("sentences"), anchor=False)
    found = ask(pair_occurrence.of_pair, layer=layer, effect=effect, limit=_MOST, **ids)
    pages = max(1, -(-len(found) // PAGE))
    page = view.number("page", 1, pages, 1, pages=count(pages))
    runs = view.pick("live", ["stored", "live"]) == "live"
    start = (page - 1) * PAGE
    shown = found.iloc[start : start + PAGE].reset_index(drop=True)
    shown["place"] = shown.index + 1 + start
    runs = runs and live.reachable()
    if runs:
        shown["delta"] = [_delta(row, layer, effect) for row in shown.to_dict("records")]
    _texts(view, shown, len(found))
    if runs:
        occurrence_maps(view, shown, layer=layer, effect=effect)


def _delta(row: dict[Any, Any], layer: int, effect: str) -> float:
    """The change at an occurrence, computed where the file does not keep it."""
    if pd.notna(row["delta"]):
        return row["delta"]
    tokens = ask(pair_occurrence.sequence, seq=row["seq"])
    maps = live.effect_maps(tokens, layer=layer, effect=effect)
    return float(maps.change[row["target_pos"], row["source_pos"]])


def _texts(view: View, shown: pd.DataFrame, n: int) -> None:
    marks = (f'<mark class="tp-{side}">{escape(view.say(f"key_{side}"))}</mark>' for side in PAIR)
    st.html(f'{_STYLE}<div class="tp-text">{" ".join(marks)}</div>')
    for row in shown.to_dict("records"):
        delta = row.pop("delta")
        stored = pd.notna(delta)
        told = view.say("in_points", delta=points(delta)) if stored else view.say("not_stored")
        st.markdown(view.say("heading", **{**row, "delta": plain(told)}))
        tokens = ask(pair_occurrence.sequence, seq=row["seq"])["token"].tolist()
        st.html(marked(tokens, row["source_pos"], row["target_pos"]))
        link_to_sequence(row["seq"], token=row["target_pos"])
    cut = "cut" if n == _MOST else "whole"
    st.caption(f"{view.say(f'sentences_caption_{cut}', n=count(n))} {source()}")


def marked(tokens: list[str], source_pos: int, target_pos: int) -> str:
    """The tokens joined to a text with two of them marked."""
    sides = {source_pos: "source", target_pos: "target"}
    parts = []
    for position, (space, shown) in enumerate(readable(tokens)):
        text = escape(shown)
        if side := sides.get(position):
            title = escape(say(f"token_pairs.workbench.is_{side}", position=position))
            text = f'<mark class="tp-{side}" title="{title}">{text}</mark>'
        parts.append(f"{escape(space)}{text}")
    return f'<div class="tp-text">{"".join(parts)}</div>'
