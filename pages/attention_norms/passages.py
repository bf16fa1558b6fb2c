"""The sequences in which a token gets most from a head, read twice: by weight and by norm."""

from collections.abc import Hashable
from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.norms import head_token
from pages.attention_norms.rankings import RANKINGS
from pages.ui.charts import shading
from pages.ui.charts.shaded_sequence import sequence_name, shaded_sequence
from pages.ui.choices.pick import pick, pick_number
from pages.ui.figure import source
from pages.ui.store.chosen import ask
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import plain, say

_FORMATS = {"attention": "{:.2%}", "weighted_norm": "{:.3f}"}


def passages(layer: int, head: int, token: str) -> None:
    """Whole sequences, every token shaded by what it receives on average over the queries."""
    st.subheader(say("attention_norms.passages.title", token=plain(token)), anchor=False)
    by, limit = _pick()
    best = ask(head_token.top_sequences, layer=layer, head=head, token=token, by=by, limit=limit)
    tokens = ask(head_token.sequence_tokens, layer=layer, head=head, sequences=best["seq"].tolist())
    tops = {each: float(tokens[each].max()) for each in RANKINGS}
    scales = (shading.scale(_name(each), tops[each], _FORMATS[each]) for each in RANKINGS)
    st.html(shading.STYLE + shading.side_by_side(*scales))
    for place, row in enumerate(best.itertuples(), start=1):
        value = _FORMATS[by].format(row.value)
        told = {"place": place, "seq": sequence_name(row.seq), "value": value}
        st.markdown(say(f"attention_norms.passages.heading_{by}", **told))
        _passage(tokens[tokens["seq"] == row.seq], token, tops)
    st.caption(f"{say('attention_norms.passages.caption')} {source()}")


def _pick() -> tuple[str, int]:
    """By what the sequences are chosen, and how many are shown."""
    left, right = st.columns(2)
    with left:
        by = pick(
            "an_by",
            say("attention_norms.passages.by"),
            RANKINGS,
            default="attention",
            format=quantity_name,
        )
    with right:
        limit = pick_number("an_passages", say("attention_norms.passages.limit"), 1, 8, 2)
    return by, limit


def _name(by: str) -> str:
    return say(f"attention_norms.passages.received_{by}")


def _passage(tokens: pd.DataFrame, token: str, tops: dict[str, float]) -> None:
    """One sequence, shaded once by each quantity."""
    rows = tokens.to_dict("records")
    told = [_told(row) for row in rows]
    texts = []
    for by in RANKINGS:
        shaded = [
            shading.Shaded(row["token"], row[by], tells, row["token"] == token)
            for row, tells in zip(rows, told, strict=True)
        ]
        texts.append(shaded_sequence(shaded, tops[by]))
    st.html(shading.side_by_side(*texts))


def _told(row: dict[Hashable, Any]) -> str:
    """The exact values of one token, for whoever points at it."""
    return say(
        "attention_norms.passages.told",
        token=row["token"],
        attention=f"{row['attention']:.3%}",
        value_norm=f"{row['value_norm']:.3f}",
        weighted_norm=f"{row['weighted_norm']:.4f}",
    )
