"""The mixing of one sequence before and after a step of the layer, and what the step changes."""

import numpy as np
import pandas as pd

from analysis.tables.pairs import pair_occurrence
from pages.token_pairs.map_chart import MAPS, map_chart
from pages.ui.live import door as live
from pages.ui.store.chosen import ask, is_causal, layer_order
from pages.ui.view import View
from pages.ui.words.names import effect_name, scope_name

_READABLE = 40  # tokens whose names fit on an axis
_AROUND = 9  # tokens shown before and after a chosen one


def occurrence_maps(view: View, shown: pd.DataFrame, *, layer: int, effect: str) -> None:
    """The maps of one of the occurrences on the page.

    Args:
        shown: rows place, seq, source_pos, target_pos.
    """
    with view.toolbar():
        place = view.pick("occurrence", shown["place"].tolist())
        row = shown[shown["place"] == place].iloc[0]
        seq, pair = int(row["seq"]), (int(row["target_pos"]), int(row["source_pos"]))
        tokens = ask(pair_occurrence.sequence, seq=seq)
        fits = len(tokens) <= _READABLE
        whole = fits or view.pick("extent", ["around", "whole"], kind="select") == "whole"
        chosen = view.pick("map", ["all", *MAPS])
    frame = _cells(
        live.effect_maps(tokens, layer=layer, effect=effect), tokens["token"].tolist(), pair, whole
    )
    before, after = (scope_name(each) for each in layer_order().effects[effect])
    chart = map_chart(
        frame,
        MAPS if chosen == "all" else (chosen,),
        titles={each: view.say(f"{each}_map", before=before, after=after) for each in MAPS},
        readable=fits or not whole,
    )
    causal = f" {view.say('maps_causal')}" if is_causal() else ""
    view.figure(
        "maps",
        frame.drop(columns="chosen"),
        chart,
        caption=view.say("maps_caption") + causal,
        effect=effect_name(effect),
        seq=seq,
        layer=layer,
    )


def _cells(maps: live.Maps, tokens: list[str], pair: tuple[int, int], whole: bool) -> pd.DataFrame:
    """One row per target and source that is shown, in percentages of the target's row.

    A target of a causal model sees no later source: these have no row.
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
