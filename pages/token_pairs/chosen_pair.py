"""One pair: what every step of every layer does to it, and every sentence it occurs in."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.choices import PAIR
from pages.token_pairs.lists import change, in_points, pair_name
from pages.token_pairs.sentences import sentences
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import choose
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import count, percent, signed
from pages.ui.words.say import plain

_HEIGHT, _OF_LEGEND = 190, 24  # pixels


def chosen_pair(view: View, first: Mapping[str, str], layer: int, effect: str) -> dict[str, str]:
    """All there is of a pair; returns its tokens.

    Args:
        first: its tokens unless others are chosen; empty if there are none.
    """
    tokens = _tokens(view, first)
    if not any(tokens.values()):
        return tokens
    name, found = plain(pair_name(**tokens)), ask(pair_delta.look_up, **tokens)
    if found.empty:
        st.info(view.say("unknown_causal" if is_causal() else "unknown", pair=name))
        return tokens
    ids = {str(side): int(token_id) for side, token_id in found.iloc[0].items()}
    changes = ask(pair_delta.of_pair, **ids)
    steps = {each: view.say(f"steps_{each}", effect=effect_name(effect)) for each in ("one", "all")}
    shown = view.pick("steps", steps)
    _told(view, ids, changes[changes["effect"] == effect], layer, effect)
    _by_layer(view, changes if shown == "all" else changes[changes["effect"] == effect], name)
    sentences(view, ids, layer=layer, effect=effect)
    return tokens


def _tokens(view: View, first: Mapping[str, str]) -> dict[str, str]:
    """The tokens as they are written; those of the first pair where none are."""
    view.row()
    tokens = {}
    for side in PAIR:
        example = first.get(side, "")
        tokens[side] = view.text(side, hint="token_help", example=example) or example
    turned = [*reversed(tokens.values())]
    with view.toolbar():
        st.button("⇄", key="tp_swap", on_click=_choose, args=(turned,), help=view.say("swap"))
    return tokens


def _choose(tokens: list[str]) -> None:
    for side, token in zip(PAIR, tokens, strict=True):
        choose(f"tp_{side}", token)


def _told(view: View, ids: dict[str, int], changes: pd.DataFrame, layer: int, effect: str) -> None:
    """Its change in the layer and where that is largest, how often it occurs, and its relation."""
    here = changes[changes["layer"] == layer].iloc[0]
    peak = changes.iloc[int(changes["mean_delta"].abs().argmax())]
    row = ask(pair.of_pair, **ids).iloc[0]
    finding = view.say(
        "finding_pair",
        effect=effect_name(effect),
        layer=layer,
        change=change(here),
        peak=int(peak["layer"]),
        peak_change=change(peak),
    )
    facts = view.say(
        "facts",
        n=count(row["n"]),
        n_sequences=count(row["n_sequences"]),
        pmi="–" if pd.isna(row["pmi"]) else signed(row["pmi"]),
        relation=relation_name(row["relation"]),
        share=percent(row["relation_share"]),
    )
    st.caption(f"{finding}  \n{facts}", help=view.say("pmi_help"))


def _by_layer(view: View, changes: pd.DataFrame, name: str) -> None:
    """The changes of some steps, from layer to layer."""
    chart = lines(
        in_points(changes),
        x="layer",
        y="mean_delta",
        colour="effect",
        colour_title=" ",
        level=0.0,
        format="+.2f",
        columns=1,
        height=_HEIGHT + _OF_LEGEND * changes["effect"].nunique(),
    )
    sure = "sure" if changes["low"].notna().any() else "unsure"
    view.figure("layers", changes, chart, caption=view.say(f"layers_caption_{sure}"), pair=name)
