"""Every head at once: weight, norm and their product for one token type (figure 4)."""

import pandas as pd
import streamlit as st

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.head_card import CARD_TABLES, opened_head
from pages.attention_norms.head_choice import follow_click, pick_norms_head
from pages.ui.about import about
from pages.ui.charts.head_map import quantity_maps
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import ask, require
from pages.ui.words.names import token_type_name
from pages.ui.words.quantities import ordered_types
from pages.ui.words.say import say

_CHART = "heads"


def show() -> None:
    require(token_type_mixing.TABLE)
    follow_click(_CHART)
    st.header(say("attention_norms.heads.title"), anchor=False)
    token_type, tops = _pick_type_and_scale()
    maps = st.container()
    layer, head = pick_norms_head()
    with maps:
        _maps(token_type, tops, (layer, head))
    opened_head(layer, head)
    about(token_type_mixing.TABLE, *CARD_TABLES)


def _pick_type_and_scale() -> tuple[str, dict[str, float]]:
    """The token type, and where each quantity's scale ends."""
    types = ordered_types(ask(token_type_mixing.by_layer, head=None)["token_type"])
    left, right = st.columns(2)
    with left:
        token_type = pick(
            "an_type",
            say("attention_norms.token_type"),
            types,
            default=types[0],
            format=token_type_name,
        )
    with right:
        scale = pick(
            "an_scale",
            say("attention_norms.heads.scale"),
            ["all", "type"],
            default="all",
            format=lambda each: say(f"attention_norms.heads.scale_{each}"),
            help=say("attention_norms.heads.scale_help"),
        )
    compared = types if scale == "all" else [token_type]
    return token_type, _tops(pd.concat([_of_type(each) for each in compared]))


def _tops(frame: pd.DataFrame) -> dict[str, float]:
    return {str(each): float(top) for each, top in frame.groupby("quantity")["mean"].max().items()}


def _of_type(token_type: str) -> pd.DataFrame:
    return ask(token_type_mixing.by_head, token_type=token_type)


def _maps(token_type: str, tops: dict[str, float], marked: tuple[int, int]) -> None:
    frame = _of_type(token_type)
    question = say("attention_norms.heads.question", type=token_type_name(token_type))
    clickable(
        quantity_maps(frame, tops, marked=marked),
        _CHART,
        key=f"an_heads_{marked[0]}_{marked[1]}",
        question=question,
        caption=say("attention_norms.heads.caption"),
        frame=frame,
    )
