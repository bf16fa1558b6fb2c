"""One head from its weights to where its attention leans (figures 2, 4, 6 and 7)."""

import math
from collections.abc import Iterator

import streamlit as st

from analysis.tables.positions import (
    exemplar_attention,
    head_offset,
    query_key_correlation,
    query_key_error,
    query_key_phase,
    query_key_rotation,
    query_key_singular_value,
    query_key_wave,
    relative_position_profile,
)
from pages.positions.correlations import correlations
from pages.positions.offsets import pick_positions_head
from pages.positions.one_text import attention, waves
from pages.positions.phases import phases
from pages.ui.head.card import head_card
from pages.ui.head.choice import row_of
from pages.ui.page import section
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent, scientific, signed
from pages.ui.words.offsets import offset_told

_ERRORS = ("score_error", "trace_error", "attention_error")


@section(
    "one_head",
    exemplar_attention.TABLE,
    relative_position_profile.TABLE,
    query_key_wave.TABLE,
    query_key_phase.TABLE,
    query_key_correlation.TABLE,
    also=(
        head_offset.TABLE,
        query_key_singular_value.TABLE,
        query_key_rotation.TABLE,
        query_key_error.TABLE,
    ),
)
def one_head(view: View) -> None:
    layer, head = pick_positions_head(view)
    _card(view, layer, head)
    head_card(layer=layer, head=head)
    if is_causal():
        view.finding(view.say("causal"))
    seq = attention(view, layer, head)
    waves(view, layer, head, seq)
    phases(view, layer, head)
    correlations(view, layer, head)


def _card(view: View, layer: int, head: int) -> None:
    """The head's numbers; those that the file lacks are left out."""
    numbers = list(_numbers(view, layer, head))
    with st.container(border=True):
        columns = st.columns(max(len(numbers), 1))
        for place, (label, value, help) in zip(columns, numbers, strict=False):
            place.metric(label, value, help=help)
        errors = ask(query_key_error.by_layer).dropna(subset=list(_ERRORS))
        for _, row in errors[errors["layer"] == layer].iterrows():
            worst = {name: scientific(float(row[name])) for name in _ERRORS}
            st.caption(view.say("card_errors", layer=layer, n=count(row["n_sequences"]), **worst))


def _numbers(view: View, layer: int, head: int) -> Iterator[tuple[str, str, str]]:
    """How much the head depends on offsets, and which it prefers; then the strongest singular
    value, and what share of all squares it and the next few hold."""
    offsets = row_of(ask(head_offset.heads), layer, head)
    if offsets is not None:
        dependence = signed(offsets["dependence"])
        yield title("dependence"), dependence, view.say("dependence")
        for name in ("attention_offset", "score_offset"):
            both = (offset_told(offsets[each]) for each in (name, f"{name}_per_pair"))
            yield view.say(f"card_{name}"), " / ".join(both), view.say("card_offset_help")
    values = ask(query_key_singular_value.of_head, layer=layer, head=head)["value"]
    if len(values):
        squares = values**2
        share = squares.nlargest(4).sum() / squares.sum() if squares.sum() > 0 else math.nan
        yield view.say("card_strongest"), f"{values.max():.2f}", view.say("card_strongest_help")
        yield view.say("card_share"), percent(share), view.say("card_share_help")
