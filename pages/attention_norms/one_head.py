"""One head: its numbers, the tokens that get its weight and its norm, and where they do."""

import streamlit as st

from analysis.tables.norms import head_token, token_type_mixing
from pages.attention_norms import head_card as norms
from pages.attention_norms.head_choice import pick_norms_head
from pages.attention_norms.passages import passages
from pages.attention_norms.rankings import follow_row, pick_token, rank_tables, ranked
from pages.ui.about import about
from pages.ui.choices.pick import pick_number
from pages.ui.head.card import head_card
from pages.ui.store.chosen import require
from pages.ui.words.say import say


def show() -> None:
    require(head_token.TABLE)
    st.header(say("attention_norms.one_head.title"), anchor=False)
    layer, head = pick_norms_head()
    norms.head_card(layer, head)
    head_card(layer=layer, head=head)
    _tokens(layer, head)
    about(head_token.TABLE, token_type_mixing.TABLE, *norms.CARD_TABLES)


def _tokens(layer: int, head: int) -> None:
    """The lists of tokens, and where the chosen one gets most."""
    least = pick_number(
        "an_least",
        say("attention_norms.one_head.least"),
        1,
        10_000,
        5,
        help=say("attention_norms.one_head.least_help"),
    )
    frame = ranked(layer, head, least)
    if frame.empty:
        st.info(say("attention_norms.one_head.too_rare", least=least))
        return
    clicked = follow_row(frame)
    tables = st.container()
    token = pick_token(frame)
    with tables:
        rank_tables(frame, state=(layer, head, least), token=token, clicked=clicked)
    passages(layer, head, token)
