"""One layer: the pairs that a step amplifies and attenuates most, with how sure that is."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.pairs import pair, pair_delta
from pages.token_pairs.overview import DIRECTIONS, PLACES
from pages.token_pairs.pair_bars import pair_bars
from pages.token_pairs.pair_choice import (
    clickable_chart,
    clickable_table,
    pick_effect,
    pick_layer,
    pick_least,
    pick_special,
)
from pages.token_pairs.units import named, pair_columns, pair_name, points
from pages.ui.about import about
from pages.ui.store.chosen import ask, require
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say


def show() -> None:
    require(pair_delta.TABLE, pair.TABLE)
    st.header(say("token_pairs.one_layer.title"), anchor=False)
    choices = _pick_choices()
    frames = {
        each: ask(pair_delta.top, amplified=each == "amplified", limit=PLACES, **choices)
        for each in DIRECTIONS
    }
    if all(frame.empty for frame in frames.values()):
        st.info(say("token_pairs.none", least=choices["min_count"]))
        return
    st.markdown(_finding(frames, choices))
    for place, (direction, frame) in zip(st.columns(2), frames.items(), strict=True):
        with place:
            _bars(frame, direction, choices)
    _table(frames, choices)
    about(pair_delta.TABLE, pair.TABLE)


def _pick_choices() -> dict[str, Any]:
    places = st.columns([1, 2, 1, 1])
    with places[0]:
        layer = pick_layer()
    with places[1]:
        effect = pick_effect()
    with places[2]:
        least = pick_least()
    with places[3]:
        special = pick_special()
    return {"layer": layer, "effect": effect, "min_count": least, "special": special}


def _finding(frames: dict[str, pd.DataFrame], choices: dict[str, Any]) -> str:
    """The first pair of each list, and what most of the list has in common."""
    sentences = []
    for direction, frame in frames.items():
        if frame.empty:
            continue
        first, counts = frame.iloc[0], frame["relation"].value_counts().sort_index()
        sentences.append(
            say(
                f"token_pairs.one_layer.finding_{direction}",
                pair=plain(pair_name(first["source"], first["target"])),
                delta=points(first["mean_delta"]),
                relation=relation_name(str(counts.idxmax())),
                share=percent(counts.max() / len(frame)),
                effect=effect_name(choices["effect"]),
            )
        )
    return " ".join(sentences)


def _bars(frame: pd.DataFrame, direction: str, choices: dict[str, Any]) -> None:
    told = {"layer": choices["layer"], "effect": effect_name(choices["effect"])}
    if frame.empty:
        st.info(say(f"token_pairs.one_layer.no_{direction}", **told))
        return
    clickable_chart(
        pair_bars(frame),
        f"tp_bars_{direction}",
        key=_key(f"tp_bars_{direction}", choices),
        question=say(f"token_pairs.one_layer.question_{direction}", **told),
        caption=say("token_pairs.one_layer.caption"),
        frame=frame,
    )


def _table(frames: dict[str, pd.DataFrame], choices: dict[str, Any]) -> None:
    clickable_table(
        "tp_layer_table",
        named(pd.concat(frames.values(), ignore_index=True)),
        key=_key("tp_layer_table", choices),
        question=say("token_pairs.one_layer.table", layer=choices["layer"]),
        caption=say("token_pairs.click"),
        columns=pair_columns(),
        height="content",
        placeholder="–",
    )


def _key(name: str, choices: dict[str, Any]) -> str:
    return "_".join([name, *map(str, choices.values())])
