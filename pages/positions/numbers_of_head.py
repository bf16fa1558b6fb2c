"""The numbers of one head on a card, whichever way its model knows positions."""

from collections.abc import Iterable

import streamlit as st

from analysis.tables.positions import query_key_error
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.numbers import count, scientific

_ERRORS = ("score_error", "trace_error", "attention_error")


def numbers_of_head(view: View, layer: int, numbers: Iterable[tuple[str, str, str]]) -> None:
    """A card of numbers, and how nearly queries and keys make up the attention of the layer.

    Args:
        numbers: label, value and help of each; those that the file lacks are left out.
    """
    shown = list(numbers)
    with st.container(border=True):
        columns = st.columns(max(len(shown), 1))
        for place, (label, value, help) in zip(columns, shown, strict=False):
            place.metric(label, value, help=help)
        errors = ask(query_key_error.by_layer).dropna(subset=list(_ERRORS))
        for _, row in errors[errors["layer"] == layer].iterrows():
            worst = {name: scientific(float(row[name])) for name in _ERRORS}
            st.caption(view.say("card_errors", layer=layer, n=count(row["n_sequences"]), **worst))
