"""One head: its numbers, the tokens that get its weight and its norm, and where they do."""

import streamlit as st

from analysis.tables.norms import head_token, token_type_mixing
from pages.attention_norms.opened_head import CARD_TABLES, norms_card, pick_norms_head
from pages.attention_norms.passages import passages
from pages.attention_norms.rankings import follow_row, rank_tables, ranked
from pages.ui.head.card import head_card
from pages.ui.page import section
from pages.ui.view import View


@section("head", head_token.TABLE, also=(token_type_mixing.TABLE, *CARD_TABLES))
def head(view: View) -> None:
    layer, head = pick_norms_head(view)
    norms_card(view, layer, head)
    head_card(layer=layer, head=head)
    least = view.number("least", 1, 10_000, 5)
    frame = ranked(layer, head, least)
    if frame.empty:
        st.info(view.say("too_rare", least=least))
        return
    clicked = follow_row(view)
    tables = st.container()
    token = view.pick("token", frame["token"].tolist(), kind="select")
    with tables:
        rank_tables(view, frame, state=(layer, head, least), token=token, clicked=clicked)
    passages(view, layer, head, token)
