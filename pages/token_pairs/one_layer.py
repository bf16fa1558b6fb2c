"""One layer: the pairs that a step amplifies and attenuates most, with how sure that is."""

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.choices import PAIR, choices, state_of
from pages.token_pairs.lists import COLUMNS, DIRECTIONS, in_points, pair_name, top_pairs
from pages.token_pairs.pair_bars import pair_bars
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import percent, points
from pages.ui.words.say import plain


@section("layer", pair_delta.TABLE, pair.TABLE)
def one_layer(view: View) -> None:
    chosen = choices(view, "layer", "effect", "min_count", "special")
    frame, state = top_pairs(**chosen), state_of(chosen)
    if frame.empty:
        st.info(view.say("none", least=chosen["min_count"]))
        return
    place = {"layer": chosen["layer"], "effect": effect_name(chosen["effect"])}
    lists = {each: frame[frame["direction"] == each] for each in DIRECTIONS}
    view.finding(" ".join(_sentence(view, *each) for each in lists.items()))
    for column, (direction, part) in zip(st.columns(2), lists.items(), strict=True):
        with column:
            if part.empty:
                st.info(view.say(f"no_{direction}", **place))
                continue
            name, caption = f"bars_{direction}", view.say("bars_caption")
            bars = pair_bars(part)
            view.figure(name, part, bars, state=state, click=True, caption=caption, **place)
    view.table(
        "layer_table",
        in_points(frame),
        COLUMNS,
        state=state,
        click=PAIR,
        options={"height": "content"},
        **place,
    )


def _sentence(view: View, direction: str, frame: pd.DataFrame) -> str:
    """The first pair of a list, and what most of the list has in common."""
    if frame.empty:
        return ""
    first, counts = frame.iloc[0], frame["relation"].value_counts().sort_index()
    return view.say(
        f"finding_{direction}",
        pair=plain(pair_name(first["source"], first["target"])),
        delta=points(first["mean_delta"]),
        relation=relation_name(str(counts.idxmax())),
        share=percent(counts.max() / len(frame)),
    )
