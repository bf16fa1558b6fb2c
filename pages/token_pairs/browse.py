"""Every pair of a layer under conditions: how often, which tokens, how they relate."""

import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.pair_choice import (
    clickable_table,
    pick_effect,
    pick_layer,
    pick_least,
    pick_relation,
    pick_special,
)
from pages.token_pairs.units import named, pair_columns
from pages.ui.about import about
from pages.ui.choices.pick import pick_text
from pages.ui.store.chosen import ask, require
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_LIMIT = 1_000


def show() -> None:
    require(pair_delta.TABLE, pair.TABLE)
    st.header(say("token_pairs.browse.title"), anchor=False)
    row = ask(pair_delta.counts).iloc[0]
    told = {name: count(row[name]) for name in ("n_pairs", "n_singletons", "n_occurrences")}
    st.markdown(say("token_pairs.browse.counts", **told))
    choices = _pick_choices()
    frame = ask(pair_delta.browse, limit=_LIMIT, **choices)
    if frame.empty:
        st.info(say("token_pairs.browse.nothing", text=plain(choices["text"])))
    else:
        cut = "cut" if len(frame) == _LIMIT else "whole"
        clickable_table(
            "tp_browse",
            named(frame),
            key="_".join(["tp_browse", *map(str, choices.values())]),
            question=say("token_pairs.browse.question", layer=choices["layer"]),
            caption=say(f"token_pairs.browse.caption_{cut}", n=count(len(frame))),
            columns=pair_columns(),
            height=560,
            placeholder="–",
        )
    about(pair_delta.TABLE, pair.TABLE)


def _pick_choices() -> dict[str, object]:
    layer, effect, least = st.columns([1, 2, 1])
    text, relation, special = st.columns([1, 2, 1])
    with layer:
        chosen_layer = pick_layer()
    with effect:
        chosen_effect = pick_effect()
    with least:
        chosen_least = pick_least()
    with text:
        chosen_text = pick_text(
            "tp_text",
            say("token_pairs.browse.text"),
            help=say("token_pairs.browse.text_help"),
            placeholder=say("token_pairs.browse.text_example"),
        )
    with relation:
        chosen_relation = pick_relation()
    with special:
        chosen_special = pick_special()
    return {
        "layer": chosen_layer,
        "effect": chosen_effect,
        "min_count": chosen_least,
        "text": chosen_text,
        "relation": chosen_relation,
        "special": chosen_special,
    }
