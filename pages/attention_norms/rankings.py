"""Two lists of the same tokens: by the weight a head gives them, and by the norm that arrives."""

import pandas as pd
import streamlit as st

from analysis.tables.norms import head_token
from pages.ui.choices.pick import choose
from pages.ui.store.chosen import ask
from pages.ui.view import View

RANKINGS = ("attention", "weighted_norm")
LISTED = 300
_ALL = 1_000_000
_DRAWN = "states in which lists of tokens were drawn"


def ranked(layer: int, head: int, least: int) -> pd.DataFrame:
    """Every token that occurs often enough, most weight first, with its place in both lists."""
    frame = ask(
        head_token.top_tokens, layer=layer, head=head, by="attention", least=least, limit=_ALL
    )
    for by in RANKINGS:
        frame[f"{by}_place"] = frame[by].rank(ascending=False, method="first").astype("int64")
    return frame


def follow_row(view: View) -> str | None:
    """Move the picker to the row that was clicked, before it is drawn; which list that was in."""
    for by in RANKINGS:
        for row in view.clicked(f"ranked_{by}"):
            choose(view.key("token"), row["token"])
            return by
    return None


def rank_tables(
    view: View, frame: pd.DataFrame, *, state: tuple[int, ...], token: str, clicked: str | None
) -> None:
    """Both lists with the token marked.

    A list is drawn anew when something else than a click in it changed what it shows, so that a
    reader who clicks keeps their place in it.

    Args:
        state: what the lists depend on besides the token.
        clicked: the list that has just been clicked in.
    """
    drawn: dict[str, tuple] = st.session_state.setdefault(_DRAWN, {})
    is_same = drawn.get("shown") == (*state, token)
    drawn["shown"] = (*state, token)
    for place, by in zip(st.columns(2), RANKINGS, strict=True):
        listed = frame.sort_values(f"{by}_place").head(LISTED).reset_index(drop=True)
        rows = listed.index[listed["token"] == token].tolist()
        if by not in drawn or not (is_same or by == clicked):
            drawn[by] = (*state, *rows)
        with place:
            _table(view, listed, by, drawn[by], rows)


def _table(
    view: View, listed: pd.DataFrame, by: str, state: tuple[int, ...], rows: list[int]
) -> None:
    (other,) = set(RANKINGS) - {by}
    written = "percent" if by == "attention" else "%.4f"
    columns = dict.fromkeys(("place", "token", "n")) | {by: written, f"{other}_place": None}
    view.table(
        f"ranked_{by}",
        listed.rename(columns={f"{by}_place": "place"}),
        columns,
        state=state,
        click=("token",),
        options={"height": 318, "selection_default": {"selection": {"rows": rows}}},
    )
