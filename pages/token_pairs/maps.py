"""Mixing of one sequence before and after a module of the layer, and its change."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.pairs import pair_occurrence
from pages.ui.charts.chart_theme import Chart, layered, ramp_below, tooltips
from pages.ui.charts.colours import MARKED
from pages.ui.charts.token_map import (
    READABLE,
    cell_band,
    change_scale,
    ends_of,
    reach_of,
    share_scale,
)
from pages.ui.live import live_model as live
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.names import effect_name, scope_name
from pages.ui.words.scope import say_here
from pages.ui.words.units import PERCENT, POINTS, in_unit, named_in, with_unit

_AROUND = 9  # tokens shown before and after a chosen one
MAPS = {"before": PERCENT, "after": PERCENT, "change": POINTS}
"""Maps of a module, with the unit of each."""
_SIDES = {1: 620, 3: 208}  # of a map that is alone, of one of three on a page 1280 wide
_BESIDE = 160  # axis, title and legend of a map that is fitted to the page


def occurrence_maps(view: View, shown: pd.DataFrame, *, layer: int, effect: str) -> None:
    """Draw the maps of one of the occurrences on the page.

    Args:
        shown: rows place, seq, source_pos, target_pos.
    """
    place = view.pick("occurrence", shown["place"].tolist())
    row = shown[shown["place"] == place].iloc[0]
    seq, pair = int(row["seq"]), (int(row["target_pos"]), int(row["source_pos"]))
    tokens = view.ask(pair_occurrence.sequence, seq=seq)
    fits = len(tokens) <= READABLE
    is_whole = fits or view.pick("extent", ["around", "whole"], kind="select") == "whole"
    chosen = view.pick("map", ["all", *MAPS])
    drawn = MAPS if chosen == "all" else (chosen,)
    frame = _cells(
        view.store,
        live.effect_maps(view.store, tokens, layer=layer, effect=effect),
        tokens["token"].tolist(),
        pair,
        is_whole,
    )
    for name, unit in MAPS.items():
        frame = in_unit(frame, unit, [name])
    before, after = (scope_name(scope) for scope in view.store.layer_order.effects[effect])
    titles = {name: view.say(f"{name}_map", before=before, after=after) for name in drawn}
    chart = _maps(frame, titles, readable=fits or not is_whole)
    causal = f" {view.say('maps_causal')}" if view.store.is_causal else ""
    view.figure(
        "maps",
        frame.drop(columns="chosen"),
        chart,
        caption=view.say("maps_caption") + causal,
        effect=effect_name(effect),
        seq=seq,
        layer=layer,
    )


def _cells(
    store: Store, maps: live.Maps, tokens: list[str], pair: tuple[int, int], is_whole: bool
) -> pd.DataFrame:
    """One row per drawn target and source, in shares of the target's row.

    In a causal model, a target has no rows of later sources: they are masked.
    """
    everything = np.arange(len(tokens))
    rows, columns = (everything if is_whole else _around(pos, len(tokens)) for pos in pair)
    target, source = (grid.ravel() for grid in np.meshgrid(rows, columns, indexing="ij"))
    if store.is_causal:
        target, source = (positions[source <= target] for positions in (target, source))
    return pd.DataFrame(
        {
            "target_pos": target,
            "source_pos": source,
            "target": [f"{tokens[pos]} {pos}" for pos in target],
            "source": [f"{tokens[pos]} {pos}" for pos in source],
            **{name: getattr(maps, name)[target, source] for name in MAPS},
            "chosen": (target == pair[0]) & (source == pair[1]),
        }
    )


def _around(position: int, n_tokens: int) -> np.ndarray:
    start = max(0, min(position - _AROUND, n_tokens - 2 * _AROUND - 1))
    return np.arange(start, min(n_tokens, start + 2 * _AROUND + 1))


def _maps(frame: pd.DataFrame, titles: Mapping[str, str], *, readable: bool) -> Any:
    """Some of `MAPS` side by side, coloured so that most of what is off the diagonal differs.

    Args:
        frame: a row per cell: target_pos, source_pos, target, source, a column per map in its unit,
            chosen.
        titles: of the maps that are drawn.
        readable: whether the tokens have room on the axes.
    """
    side, first = _SIDES[len(titles)], next(iter(titles))
    parts = [
        _map(frame, name, side, readable=readable, first=name == first).properties(title=words)
        for name, words in titles.items()
    ]
    if len(parts) == 1:
        return parts[0].properties(width=side + _BESIDE, height=side + _BESIDE)
    return alt.hconcat(*parts, spacing=14).resolve_scale(color="independent")


def _map(frame: pd.DataFrame, name: str, side: int, *, readable: bool, first: bool) -> Any:
    """Draw one of the maps; both mixings have one scale."""
    columns = {side: named_in(unit, side) for side, unit in MAPS.items()}
    value = columns[name]
    if is_change := name == "change":
        reach, unit = reach_of(frame, value), title(value)
    else:
        reach = reach_of(frame, columns["before"], columns["after"])
        unit = with_unit(say_here("share_of_target"), PERCENT)
    scale = (change_scale if is_change else share_scale)(reach)
    axis: dict[str, Any] = {"labelLimit": 76, "labelFontSize": 9 if side < 400 else 10}
    axis |= {"ticks": False, "labelOverlap": False, "labelFlush": False}
    ends = ends_of(frame[value], reach, is_change=is_change)
    legend = ramp_below(min(side, 240) - 20, **ends)
    base = Chart(frame).encode(
        x=alt.X(
            "source:N",
            title=title("source"),
            sort=alt.SortField("source_pos"),
            axis=alt.Axis(labels=readable, labelAngle=-90, **axis),
        ),
        y=alt.Y(
            "target:N",
            title=title("target") if first else None,
            sort=alt.SortField("target_pos"),
            axis=alt.Axis(labels=readable and first, **axis),
        ),
    )
    band = cell_band(frame["target_pos"].nunique(), side)
    cells = base.mark_rect(width=band, height=band).encode(
        color=alt.Color(f"{value}:Q", title=unit, scale=scale, legend=legend),
        tooltip=tooltips(dict.fromkeys(("target", "source", *columns.values())), frame, ".2f"),
    )
    ring = base.transform_filter("datum.chosen")
    ring = ring.mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
    return layered(cells, ring, width=side, height=side)
