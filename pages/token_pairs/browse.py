"""Every pair of a layer under conditions: how often, which tokens, how they relate."""

import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.choices import PAIR, choices, state_of
from pages.token_pairs.lists import COLUMNS, in_points
from pages.ui.page import section
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain

_LIMIT = 1_000


@section("browse", pair_delta.TABLE, pair.TABLE)
def browse(view: View) -> None:
    numbers = ask(pair_delta.counts).iloc[0]
    view.finding(view.say("counts", **{name: count(n) for name, n in numbers.items()}))
    chosen = choices(view, "layer", "effect", "min_count")
    chosen |= choices(view, "text", "relation", "rank", "clear", "special")
    frame = ask(pair_delta.browse, limit=_LIMIT, **chosen)
    if frame.empty:
        name = "none_clear" if chosen["clear"] else "nothing"
        st.info(view.say(name, text=plain(chosen["text"])))
        return
    order = view.say(f"order_{chosen['rank']}")
    cut = "cut" if len(frame) == _LIMIT else "whole"
    view.table(
        "browse",
        in_points(frame),
        COLUMNS,
        state=state_of(chosen),
        caption=view.say(f"caption_{cut}", n=count(len(frame)), order=order),
        click=PAIR,
        options={"height": 560},
        layer=chosen["layer"],
    )
