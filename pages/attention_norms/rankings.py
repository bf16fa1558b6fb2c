"""Two lists of the same tokens: by the weight a head gives them, and by the norm that arrives."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms import head_token
from pages.ui.choices.clicks import fresh_click, last_key, remember
from pages.ui.choices.pick import choose, pick
from pages.ui.figure import table
from pages.ui.store.chosen import ask
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import say

RANKINGS = ("attention", "weighted_norm")
LISTED = 300
_ALL = 1_000_000
_DRAWN_FOR = "an_rank drawn for"
Column = st.column_config.NumberColumn


def ranked(layer: int, head: int, least: int) -> pd.DataFrame:
    """Every token that occurs often enough, most weight first, with its place in both lists."""
    frame = ask(
        head_token.top_tokens, layer=layer, head=head, by="attention", least=least, limit=_ALL
    )
    for by in RANKINGS:
        frame[f"{by}_place"] = frame[by].rank(ascending=False, method="first").astype("int64")
    return frame


def follow_row(frame: pd.DataFrame) -> str | None:
    """Move the picker to the row that was clicked, before it is drawn; which list that was in."""
    for by in RANKINGS:
        listed = _listed(frame, by)
        for row in fresh_click(f"rank_{by}").get("rows", []):
            if row < len(listed):
                choose("an_token", listed["token"].iloc[row])
                return by
    return None


def pick_token(frame: pd.DataFrame) -> str:
    """One of the tokens; unless another was chosen, the one that gets most weight."""
    tokens = frame["token"].tolist()
    return pick(
        "an_token",
        say("attention_norms.one_head.token"),
        tokens,
        default=tokens[0],
        kind="select",
        help=say("attention_norms.one_head.token_help"),
    )


def rank_tables(
    frame: pd.DataFrame, *, state: tuple[int, ...], token: str, clicked: str | None
) -> None:
    """Both lists with the token marked.

    A list is drawn anew when something else than a click in it changed what it shows, so that a
    reader who clicks keeps their place in it.

    Args:
        state: what the lists depend on besides the token.
        clicked: the list that has just been clicked in.
    """
    drawn_for = (*state, token)
    same = st.session_state.get(_DRAWN_FOR) == drawn_for
    st.session_state[_DRAWN_FOR] = drawn_for
    for place, by in zip(st.columns(2), RANKINGS, strict=True):
        listed = _listed(frame, by)
        rows = listed.index[listed["token"] == token].tolist()
        key = f"an_rank_{by}_{'_'.join(map(str, [*state, *rows]))}"
        if same or by == clicked:
            key = last_key(f"rank_{by}") or key
        with place:
            event = _table(listed, by, key, rows)
        remember(f"rank_{by}", key, event)


def _listed(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    return frame.sort_values(f"{by}_place").head(LISTED).reset_index(drop=True)


def _table(listed: pd.DataFrame, by: str, key: str, rows: list[int]) -> Any:
    other = next(each for each in RANKINGS if each != by)
    formats = {"attention": "percent", "weighted_norm": "%.4f"}
    return table(
        listed,
        key=key,
        question=say(f"attention_norms.one_head.ranked_{by}"),
        caption=say(f"attention_norms.one_head.ranked_{by}_caption"),
        columns={
            f"{by}_place": Column(say("attention_norms.one_head.place"), width=52),
            "token": st.column_config.TextColumn(say("attention_norms.token")),
            "n": Column(say("attention_norms.one_head.n"), format="localized", width=56),
            by: Column(quantity_name(by), format=formats[by], width=72),
            f"{other}_place": Column(say(f"attention_norms.one_head.{other}_place"), width=84),
        },
        height=318,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": rows}},
    )
