"""The mixing of one sequence before and after a step of the layer, and what the step changes."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.token_pairs.map_chart import MAPS, Labels, map_chart
from pages.ui.choices.pick import pick
from pages.ui.figure import figure
from pages.ui.live import door as live
from pages.ui.store.chosen import is_causal, layer_order
from pages.ui.words.names import effect_name, scope_name
from pages.ui.words.say import say

_READABLE = 40  # tokens whose names fit on an axis
_AROUND = 9  # tokens shown before and after a chosen one


def occurrence_maps(shown: pd.DataFrame, tokens_of: Any, *, layer: int, effect: str) -> None:
    """The maps of one of the occurrences on the page.

    Args:
        shown: rows place, seq, source_pos, target_pos.
        tokens_of: gives the tokens of a sequence.
    """
    places = [int(each) for each in shown["place"]]
    which, extent, kind = st.columns([5, 4, 6])
    with which:
        place = pick("tp_occurrence", say("token_pairs.maps.occurrence"), places, default=places[0])
    chosen = shown[shown["place"] == place].iloc[0]
    seq, target, source = (int(chosen[each]) for each in ("seq", "target_pos", "source_pos"))
    tokens = tokens_of(seq)
    with extent:
        whole = _pick_extent(len(tokens))
    with kind:
        drawn = _pick_maps()
    maps = live.effect_maps(tokens, layer=layer, effect=effect)
    frame = _cells(maps, tokens["token"].tolist(), (target, source), whole)
    question = say("token_pairs.maps.question", effect=effect_name(effect), seq=seq, layer=layer)
    figure(
        map_chart(frame, drawn, _labels(effect, not whole or len(tokens) <= _READABLE)),
        key=f"tp_maps_{seq}_{layer}_{effect}_{whole}_{'_'.join(drawn)}",
        question=question,
        caption=_caption(),
        frame=frame.drop(columns="chosen"),
        alt=question,
    )


def _caption() -> str:
    told = say("token_pairs.maps.caption")
    return f"{told} {say('token_pairs.maps.causal')}" if is_causal() else told


def _pick_extent(n_tokens: int) -> bool:
    """Whether the whole sequence is shown, or what is around the pair."""
    if n_tokens <= _READABLE:
        return True
    chosen = pick(
        "tp_extent",
        say("token_pairs.maps.extent"),
        ["around", "whole"],
        default="around",
        format=lambda each: say(f"token_pairs.maps.extent_{each}"),
        kind="select",
    )
    return chosen == "whole"


def _pick_maps() -> tuple[str, ...]:
    chosen = pick(
        "tp_map",
        say("token_pairs.maps.map"),
        ["all", *MAPS],
        default="all",
        format=lambda each: say(f"token_pairs.maps.map_{each}"),
    )
    return MAPS if chosen == "all" else (chosen,)


def _labels(effect: str, readable: bool) -> Labels:
    before, after = (scope_name(each) for each in layer_order().effects[effect])
    titles = {
        "before": say("token_pairs.maps.before", scope=before),
        "after": say("token_pairs.maps.after", scope=after),
        "change": say("token_pairs.maps.change"),
    }
    return Labels(titles, readable)


def _cells(maps: live.Maps, tokens: list[str], pair: tuple[int, int], whole: bool) -> pd.DataFrame:
    """One row per target and source that is shown, in percentages of the target's row.

    A target of a causal model sees no source behind itself: these have no row.
    """
    everything = np.arange(len(tokens))
    rows, columns = (everything if whole else _around(each, len(tokens)) for each in pair)
    target, source = (each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
    if is_causal():
        target, source = (each[source <= target] for each in (target, source))
    return pd.DataFrame(
        {
            "target_pos": target,
            "source_pos": source,
            "target": [f"{tokens[each]} {each}" for each in target],
            "source": [f"{tokens[each]} {each}" for each in source],
            **{name: 100.0 * getattr(maps, name)[target, source] for name in MAPS},
            "chosen": (target == pair[0]) & (source == pair[1]),
        }
    )


def _around(position: int, n_tokens: int) -> np.ndarray:
    start = max(0, min(position - _AROUND, n_tokens - 2 * _AROUND - 1))
    return np.arange(start, min(n_tokens, start + 2 * _AROUND + 1))
