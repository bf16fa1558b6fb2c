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
from pages.positions.attention_map import attention
from pages.positions.correlations import correlations
from pages.positions.head_choice import pick_positions_head
from pages.positions.offsets import offsets_of
from pages.positions.phases import phases
from pages.positions.waves import waves
from pages.ui.head.card import head_card
from pages.ui.page import section
from pages.ui.store.chosen import ask, is_causal
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent, scientific
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
    numbers = [*_offsets(view, layer, head), *_values(view, layer, head)]
    with st.container(border=True):
        for place, (label, value, help) in zip(
            st.columns(max(len(numbers), 1)), numbers, strict=False
        ):
            place.metric(label, value, help=help)
        errors = ask(query_key_error.by_layer).dropna(subset=list(_ERRORS))
        for _, row in errors[errors["layer"] == layer].iterrows():
            worst = {name: scientific(float(row[name])) for name in _ERRORS}
            st.caption(view.say("card_errors", layer=layer, n=count(row["n_sequences"]), **worst))


def _offsets(view: View, layer: int, head: int) -> list[tuple[str, str, str]]:
    row = offsets_of(layer, head)
    if row is None:
        return []
    dependence = "—" if pd.isna(row["dependence"]) else f"{row['dependence']:.2f}"
    return [
        (title("dependence"), dependence, view.say("dependence")),
        *(
            (
                view.say(f"card_{name}"),
                f"{offset_told(row[name])} / {offset_told(row[f'{name}_per_pair'])}",
                view.say("card_offset_help"),
            )
            for name in ("attention_offset", "score_offset")
        ),
    ]


def _values(view: View, layer: int, head: int) -> list[tuple[str, str, str]]:
    """The strongest singular value, and what share of all squares it and the next few hold."""
    values = ask(query_key_singular_value.of_head, layer=layer, head=head)
    if values.empty:
        return []
    squares = values["value"] ** 2
    share = percent(squares.nlargest(4).sum() / squares.sum()) if squares.sum() > 0 else "—"
    numbers = {"strongest": f"{values['value'].max():.2f}", "share": share}
    return [
        (view.say(f"card_{name}"), value, view.say(f"card_{name}_help"))
        for name, value in numbers.items()
    ]
