"""The sequences in which two scopes see the mixing least alike, to be read."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.mixing import sequence_scope_similarity
from pages.ui.choices.pick import pick
from pages.ui.figure import table
from pages.ui.store.chosen import ask, layer_order
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import signed
from pages.ui.words.say import plain, say

_LIMIT = 20


def least_similar(layer: int | None) -> tuple[str, str]:
    """A fold with two scopes to choose and those sequences, open once others were chosen.

    Returns:
        the scopes; unless others were chosen, before and after the feed-forward network.
    """
    before, after = layer_order().effects["ff"]
    defaults: dict[str, str] = {"scope_a": before, "scope_b": after}
    state = {**st.query_params.to_dict(), **st.session_state}
    chosen = {name: state.get(f"lm_{name}") or defaults[name] for name in defaults}
    with st.expander(say("layer_mixing.least_similar.title"), expanded=chosen != defaults):
        one, other = _pick_scopes(defaults)
        if one == other:
            st.info(say("layer_mixing.least_similar.same"))
        else:
            _sequences(layer, one, other)
    return one, other


def _pick_scopes(defaults: dict[str, str]) -> list[str]:
    places = zip(st.columns(2), defaults.items(), strict=True)
    return [_pick_scope(place, name, default) for place, (name, default) in places]


def _pick_scope(place: Any, name: str, default: str) -> str:
    with place:
        return pick(
            f"lm_{name}",
            say(f"layer_mixing.least_similar.{name}"),
            layer_order().scopes,
            default=default,
            format=scope_name,
            kind="select",
        )


def _sequences(layer: int | None, one: str, other: str) -> None:
    """Their list, least similar first, and the text of the one that is selected."""
    frame = ask(
        sequence_scope_similarity.extremes, layer=layer, scope_a=one, scope_b=other, limit=_LIMIT
    )
    if frame.empty:
        st.info(say("layer_mixing.nothing_varies"))
        return
    where = "mean" if layer is None else "layer"
    number = st.column_config.NumberColumn
    event = table(
        frame,
        key=f"lm_unlike_{layer}_{one}_{other}",
        question=say(
            f"layer_mixing.least_similar.question_{where}",
            layer=layer,
            one=scope_name(one),
            other=scope_name(other),
        ),
        caption=say("layer_mixing.least_similar.caption"),
        columns={
            "seq": number(say("layer_mixing.sequence"), format="%d", width="small"),
            "spearman": number(say("layer_mixing.rho"), format="%.3f", width="small"),
            "n_tokens": number(say("layer_mixing.tokens"), format="%d", width="small"),
            "text": st.column_config.TextColumn(say("layer_mixing.text"), width="large"),
        },
        height=248,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [0]}},
    )
    _text(frame, list(event["selection"]["rows"]))


def _text(frame: pd.DataFrame, rows: list[int]) -> None:
    row = frame.iloc[rows[0] if rows and rows[0] < len(frame) else 0]
    told = {"seq": row["seq"], "rho": signed(row["spearman"])}
    st.markdown(say("layer_mixing.least_similar.selected", text=plain(row["text"]), **told))
