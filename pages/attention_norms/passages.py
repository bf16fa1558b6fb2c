"""The sequences in which a token gets most from a head, read twice: by weight and by norm."""

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from analysis.tables.norms import head_token
from pages.attention_norms.rankings import RANKINGS
from pages.ui.charts import shading
from pages.ui.charts.shaded_sequence import sequence_name, shaded_by
from pages.ui.figure import source
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import plain

_FORMATS = {"attention": "{:.2%}", "weighted_norm": "{:.3f}"}


def passages(view: View, layer: int, head: int, token: str) -> None:
    """Whole sequences, every token shaded by what it receives on average over the queries."""
    st.subheader(view.say("passages_title", token=plain(token)), anchor=False)
    left, right = st.columns(2)
    with left:
        by = view.pick("by", RANKINGS, format=quantity_name)
    with right:
        limit = view.number("passages", 1, 8, 2)
    best = ask(head_token.top_sequences, layer=layer, head=head, token=token, by=by, limit=limit)
    tokens = ask(head_token.sequence_tokens, layer=layer, head=head, sequences=best["seq"].tolist())
    tops = {each: float(tokens[each].max()) for each in RANKINGS}
    scales = (
        shading.scale(view.say(f"received_{each}"), tops[each], _FORMATS[each]) for each in RANKINGS
    )
    st.html(shading.STYLE + shading.side_by_side(*scales))
    for place, row in enumerate(best.itertuples(), start=1):
        value, seq = _FORMATS[by].format(row.value), sequence_name(row.seq)
        st.markdown(view.say(f"heading_{by}", place=place, seq=seq, value=value))
        shown = tokens[tokens["seq"] == row.seq]
        texts = (
            shaded_by(shown, each, tops[each], hint=lambda row: _hint(view, row), chosen=token)
            for each in RANKINGS
        )
        st.html(shading.side_by_side(*texts))
    st.caption(f"{view.say('passages_caption')} {source()}")


def _hint(view: View, row: Mapping[Hashable, Any]) -> str:
    """The exact values of one token, for whoever points at it."""
    return view.say(
        "token_values",
        token=row["token"],
        attention=f"{row['attention']:.3%}",
        value_norm=f"{row['value_norm']:.3f}",
        weighted_norm=f"{row['weighted_norm']:.4f}",
    )
