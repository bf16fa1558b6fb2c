"""Every place where a pair occurs, to be read: both tokens marked, and what a step does there."""

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair_occurrence
from pages.token_pairs.maps import occurrence_maps
from pages.token_pairs.units import points
from pages.ui.charts.pieces import readable
from pages.ui.choices.pick import pick, pick_number
from pages.ui.figure import source
from pages.ui.live import door as live
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

PAGE = 5
_MOST = 1_000
_STYLE = """<style>
.tp-text {white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.75; font-size: .95rem}
.tp-text mark {color: inherit; border-radius: 3px; padding: .1em .15em; unicode-bidi: isolate}
.tp-text .tp-source {background: rgba(44, 156, 124, .28); outline: 1.5px solid #2c9c7c}
.tp-text .tp-target {background: rgba(138, 111, 196, .28); outline: 1.5px dashed #8a6fc4}
</style>"""


def sentences(ids: dict[str, int], *, layer: int, effect: str) -> None:
    """A page of occurrences, and the maps of one of them."""
    found = ask(pair_occurrence.of_pair, layer=layer, effect=effect, limit=_MOST, **ids)
    st.subheader(say("token_pairs.sentences.title"), anchor=False)
    page, is_live = _pick(len(found))
    shown = found.iloc[(page - 1) * PAGE : page * PAGE].reset_index(drop=True)
    shown["place"] = shown.index + 1 + (page - 1) * PAGE
    runs = is_live and live.reachable()
    if runs:
        shown = _computed(shown, layer, effect)
    _texts(shown, len(found))
    if runs:
        occurrence_maps(shown, tokens_of, layer=layer, effect=effect)


def _pick(n: int) -> tuple[int, bool]:
    """Which page is shown, and whether the model is run on it."""
    left, right = st.columns([1, 2])
    pages = max(1, -(-n // PAGE))
    with left:
        page = pick_number(
            "tp_page", say("token_pairs.sentences.page", pages=count(pages)), 1, pages, 1
        )
    with right:
        chosen = pick(
            "tp_live",
            say("token_pairs.sentences.live"),
            ["stored", "live"],
            default="stored",
            format=lambda each: say(f"token_pairs.sentences.live_{each}"),
            help=say("token_pairs.sentences.live_help"),
        )
    return page, chosen == "live"


def _computed(shown: pd.DataFrame, layer: int, effect: str) -> pd.DataFrame:
    """The occurrences with the changes that the file does not keep."""
    records = shown.to_dict("records")
    for row in records:
        if pd.isna(row["delta"]):
            maps = live.effect_maps(tokens_of(row["seq"]), layer=layer, effect=effect)
            row["delta"] = maps.change[row["target_pos"], row["source_pos"]]
    return pd.DataFrame(records)


def tokens_of(seq: Any) -> pd.DataFrame:
    """The tokens of a sequence in their order."""
    return ask(pair_occurrence.sequence, seq=int(seq))


def _texts(shown: pd.DataFrame, n: int) -> None:
    st.html(_STYLE + _key())
    for row in shown.to_dict("records"):
        places = {name: row[name] for name in ("place", "seq", "source_pos", "target_pos")}
        delta = plain(_delta(row["delta"]))
        st.markdown(say("token_pairs.sentences.heading", delta=delta, **places))
        tokens = tokens_of(row["seq"])["token"].tolist()
        st.html(marked(tokens, row["source_pos"], row["target_pos"]))
    cut = "cut" if n == _MOST else "whole"
    st.caption(f"{say(f'token_pairs.sentences.caption_{cut}', n=count(n))} {source()}")


def _delta(delta: float) -> str:
    if pd.isna(delta):
        return say("token_pairs.sentences.not_stored")
    return say("token_pairs.sentences.points", delta=points(delta))


def _key() -> str:
    """How source and target are marked."""
    marks = (
        f'<mark class="tp-{each}">{escape(say(f"token_pairs.sentences.key_{each}"))}</mark>'
        for each in ("source", "target")
    )
    return f'<div class="tp-text">{" ".join(marks)}</div>'


def marked(tokens: list[str], source_pos: int, target_pos: int) -> str:
    """The tokens joined to a text with two of them marked."""
    parts = []
    for position, (space, shown) in enumerate(readable(tokens)):
        kinds = {source_pos: "source", target_pos: "target"}
        if position in kinds:
            kind = kinds[position]
            title = escape(say(f"token_pairs.sentences.is_{kind}", position=position))
            text = f'<mark class="tp-{kind}" title="{title}">{escape(shown)}</mark>'
        else:
            text = escape(shown)
        parts.append(f"{escape(space)}{text}")
    return f'<div class="tp-text">{"".join(parts)}</div>'
