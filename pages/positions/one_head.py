"""One head from its weights to where its attention leans (figures 2, 4, 6 and 7)."""

import pandas as pd
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
from pages.positions import attention_map, correlations, phases, waves
from pages.positions.head_choice import pick_positions_head
from pages.ui.about import about
from pages.ui.head.card import head_card
from pages.ui.store.chosen import ask, require
from pages.ui.words.numbers import percent, scientific
from pages.ui.words.offsets import is_causal, offset_told
from pages.ui.words.say import say

_TABLES = (
    exemplar_attention.TABLE,
    relative_position_profile.TABLE,
    query_key_wave.TABLE,
    query_key_phase.TABLE,
    query_key_correlation.TABLE,
)
_CARD_TABLES = (
    head_offset.TABLE,
    query_key_singular_value.TABLE,
    query_key_rotation.TABLE,
    query_key_error.TABLE,
)
_ERRORS = ("score_error", "trace_error", "attention_error")


def show() -> None:
    require(*_TABLES)
    st.header(say("positions_head.one_head.title"), anchor=False)
    layer, head = pick_positions_head()
    _card(layer, head)
    head_card(layer=layer, head=head)
    causal = is_causal()
    if causal:
        st.markdown(say("positions_head.causal"))
    seq = attention_map.show(layer, head, causal=causal)
    waves.show(layer, head, seq)
    phases.show(layer, head)
    correlations.show(layer, head, causal=causal)
    about(*_TABLES, *_CARD_TABLES)


def _card(layer: int, head: int) -> None:
    """The head's numbers; those that the file lacks are left out."""
    with st.container(border=True):
        numbers = _offsets(layer, head) | _values(layer, head)
        for place, (label, (value, help)) in zip(
            st.columns(max(len(numbers), 1)), numbers.items(), strict=False
        ):
            place.metric(say(f"positions_head.card.{label}"), value, help=help)
        errors = _errors(layer)
        if errors:
            st.caption(errors)


def _offsets(layer: int, head: int) -> dict[str, tuple[str, str]]:
    heads = ask(head_offset.heads)
    found = heads[(heads["layer"] == layer) & (heads["head"] == head)]
    if found.empty:
        return {}
    row = found.iloc[0]
    dependence = "—" if pd.isna(row["dependence"]) else f"{row['dependence']:.2f}"
    told = {"dependence": (dependence, say("positions_head.dependence"))}
    for name in ("attention_offset", "score_offset"):
        value = f"{offset_told(row[name])} / {offset_told(row[f'{name}_per_pair'])}"
        told[name] = (value, say("positions_head.card.offset_help"))
    return told


def _values(layer: int, head: int) -> dict[str, tuple[str, str]]:
    """The strongest singular value, and what share of all squares it and the next few hold."""
    values = ask(query_key_singular_value.of_head, layer=layer, head=head)
    if values.empty:
        return {}
    squares = values["value"] ** 2
    strongest = f"{values['value'].max():.2f}"
    share = percent(squares.nlargest(4).sum() / squares.sum()) if squares.sum() > 0 else "—"
    return {
        "strongest": (strongest, say("positions_head.card.strongest_help")),
        "share": (share, say("positions_head.card.share_help")),
    }


def _errors(layer: int) -> str:
    """How far the factors are from what the model computed, at worst in the head's layer."""
    errors = ask(query_key_error.by_layer)
    found = errors[errors["layer"] == layer].dropna(subset=list(_ERRORS))
    if found.empty:
        return ""
    row = found.iloc[0]
    told = {name: scientific(float(row[name])) for name in _ERRORS}
    n = f"{int(row['n_sequences']):,}"
    return say("positions_head.card.errors", layer=layer, n=n, **told)
