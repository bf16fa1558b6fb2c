"""The sequences in which two scopes see the mixing least alike, to be read."""

import streamlit as st

from analysis.tables.mixing import sequence_scope_similarity
from pages.ui.store.chosen import ask, layer_order
from pages.ui.view import View
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import signed
from pages.ui.words.say import plain

FIELDS = ("scope_a", "scope_b")
_LIMIT = 20


def least_similar(view: View, layer: int | None) -> tuple[str, str]:
    """A fold with two scopes to choose and those sequences, open once others were chosen.

    Returns:
        the scopes; unless others were chosen, before and after the feed-forward network.
    """
    defaults = dict(zip(FIELDS, layer_order().effects["ff"], strict=True))
    state = {**st.query_params.to_dict(), **st.session_state}
    others = any(state.get(view.key(name)) not in (None, defaults[name]) for name in FIELDS)
    with st.expander(view.say("least"), expanded=others):
        with view.toolbar():
            one, other = (
                view.pick(name, layer_order().scopes, default=default, kind="select")
                for name, default in defaults.items()
            )
        if one == other:
            st.info(view.say("least_same"))
        else:
            _sequences(view, layer, one, other)
    return one, other


def _sequences(view: View, layer: int | None, one: str, other: str) -> None:
    """Their list, least similar first, and the text of the one that is selected."""
    scopes = {"scope_a": one, "scope_b": other}
    frame = ask(sequence_scope_similarity.extremes, layer=layer, limit=_LIMIT, **scopes)
    if frame.empty:
        st.info(view.say("nothing_varies"))
        return
    event = view.table(
        "least_mean" if layer is None else "least_layer",
        frame,
        ["seq", "spearman", "n_tokens", "text"],
        state=f"{layer}_{one}_{other}",
        caption=view.say("least_caption"),
        options={
            "height": 248,
            "on_select": "rerun",
            "selection_mode": "single-row",
            "selection_default": {"selection": {"rows": [0]}},
        },
        layer=layer,
        one=scope_name(one),
        other=scope_name(other),
    )
    rows = [place for place in event["selection"]["rows"] if place < len(frame)] or [0]
    row = frame.iloc[rows[0]]
    rho, text = signed(row["spearman"]), plain(row["text"])
    st.markdown(view.say("least_selected", seq=row["seq"], rho=rho, text=text))
