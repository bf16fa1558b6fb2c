"""One head: its numbers, the tokens with most weight and most norm, and the texts they stand in."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics.norms import head_token, token_type_mixing
from pages.norms.opened_head import CARD_TABLES, norms_card, pick_norms_head
from pages.norms.transforms import by_gates
from pages.ui.charts import shading
from pages.ui.charts.shaded_sequence import sequence_name, shaded_by
from pages.ui.choices.picker import choose
from pages.ui.page import section
from pages.ui.passages import Passage, draw_passages
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import plain

_RANKINGS = {"attention": "{:.2%}", "weighted_norm": "{:.3f}"}
_LISTED = 300
_ALL = 1_000_000
_DRAWN = "states in which lists of tokens were drawn"
_CLICKED = "list of tokens that was clicked in"


@section("head", head_token.TABLE, also=(token_type_mixing.TABLE, *CARD_TABLES), lacking=by_gates)
def head(view: View) -> None:
    layer, head = pick_norms_head(view)
    least = view.number("least", 1, 10_000, 5)
    frame = _ranked(view, layer, head, least)
    if frame.empty:
        view.nothing("too_rare", least=least)
    else:
        clicked = st.session_state.pop(_CLICKED, None)
        tables = view.place("container")
        token = view.pick("token", frame["token"].tolist(), kind="select")
        with tables:
            _rank_tables(view, frame, state=(layer, head, least), token=token, clicked=clicked)
        _passages(view, layer, head, token)
    norms_card(view, layer, head)


def _ranked(inquiry: Inquiry, layer: int, head: int, least: int) -> pd.DataFrame:
    """Every frequent enough token, most weight first, with its ranks by weight and norm."""
    frame = inquiry.ask(
        head_token.top_tokens, layer=layer, head=head, by="attention", least=least, limit=_ALL
    )
    for by in _RANKINGS:
        frame[f"{by}_place"] = frame[by].rank(ascending=False, method="first").astype("int64")
    return frame


def _choose(view: View, by: str, row: Mapping[Any, Any]) -> None:
    """Choose the token of a row that was clicked, and remember in which list."""
    choose(view.key("token"), row["token"])
    choose(_CLICKED, by)


def _rank_tables(
    view: View, frame: pd.DataFrame, *, state: tuple[int, ...], token: str, clicked: str | None
) -> None:
    """Draw both lists with the token marked.

    A list is redrawn only if something other than a click in it changed its content, so that a
    reader who clicks keeps the scroll position.

    Args:
        state: the choices that the lists depend on, besides the token.
        clicked: the list that has just been clicked in.
    """
    drawn: dict[str, tuple] = st.session_state.setdefault(_DRAWN, {})
    is_same = drawn.get("shown") == (*state, token)
    drawn["shown"] = (*state, token)
    for place, by in zip(view.columns(2), _RANKINGS, strict=True):
        listed = frame.sort_values(f"{by}_place").head(_LISTED).reset_index(drop=True)
        rows = listed.index[listed["token"] == token].tolist()
        if by not in drawn or not (is_same or by == clicked):
            drawn[by] = (*state, *rows)
        (other,) = set(_RANKINGS) - {by}
        written = "percent" if by == "attention" else "%.4f"
        with place:
            view.table(
                f"ranked_{by}",
                listed.rename(columns={f"{by}_place": "place"}),
                {"place": None, "token": None, "n": None, by: written, f"{other}_place": None},
                state=drawn[by],
                click=partial(_choose, view, by),
                options={"height": 318, "selection_default": {"selection": {"rows": rows}}},
            )


def _passages(view: View, layer: int, head: int, token: str) -> None:
    """Draw the sequences in which a token receives most, by weight and by norm.

    Lines are those of the head; where they are unknown, each token is shaded by its mean over the
    queries.
    """
    by = view.pick("by", list(_RANKINGS), format=quantity_name)
    limit = view.number("passages", 1, 8, 2)
    best = view.ask(
        head_token.top_sequences, layer=layer, head=head, token=token, by=by, limit=limit
    )
    tokens = view.ask(
        head_token.sequence_tokens, layer=layer, head=head, sequences=best["seq"].tolist()
    )
    shades = {
        column: shading.Shades(float(tokens[column].max()), float(tokens[column].min()))
        for column in _RANKINGS
    }
    scales = (
        shading.scale(view.say(f"received_{column}"), shades[column], format)
        for column, format in _RANKINGS.items()
    )
    parts = []
    for place, row in enumerate(best.itertuples(), start=1):
        value, seq = _RANKINGS[by].format(row.value), sequence_name(view, row.seq)
        heading = view.say(f"heading_{by}", place=place, seq=seq, value=value)
        shown = tokens[tokens["seq"] == row.seq]
        texts = (
            shaded_by(view, shown, column, shades[column], hint=partial(_hint, view), chosen=token)
            for column in _RANKINGS
        )
        parts.append(Passage(heading, shading.side_by_side(*texts), int(row.seq)))
    colours = shading.side_by_side(*scales)
    view.markup(
        "passages_title",
        best,
        partial(draw_passages, view, colours, parts),
        caption=view.say("passages_caption"),
        token=plain(token),
    )


def _hint(view: View, row: Mapping[Hashable, Any]) -> str:
    """Tooltip with the exact values of a token."""
    return view.say(
        "token_values",
        token=row["token"],
        attention=f"{row['attention']:.3%}",
        value_norm=f"{row['value_norm']:.3f}",
        weighted_norm=f"{row['weighted_norm']:.4f}",
    )
