"""Bars of what the scores of each layer are due to."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.positions.sums import PARTS
from pages.charts.chart_theme import Chart, coloured, column_tooltips, edged, flat_axis, layered
from pages.charts.colours import SCORE_PART_COLOURS
from pages.words.columns import title
from pages.words.scope import say_here


def share_bars(parts: pd.DataFrame, *_given: Any) -> Any:
    """Draw a bar per layer, divided into the four parts; negative parts hang below 0.

    Position alone starts at 0, so that its interval can be drawn around its end.

    Args:
        parts: rows layer, part, share, low, high.
    """
    names = {part: say_here(f"part_{part}") for part in PARTS}
    shown = parts.assign(part=parts["part"].map(names), order=parts["part"].map(PARTS.index))
    colours = {names[part]: colour for part, colour in SCORE_PART_COLOURS.items()}
    long, encoding, _ = coloured(shown, "part", " ", colours)
    y: dict[str, Any] = {"title": title("share"), "axis": alt.Axis(format=".0%", tickCount=6)}
    base = Chart(long).encode(
        x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
        tooltip=column_tooltips(long, layer="d", part="", share=".1%", low=".1%", high=".1%"),
    )
    bars = base.mark_bar(stroke="#80808055", strokeWidth=0.5).encode(
        y=alt.Y("share:Q", **y), order=alt.Order("order:Q"), color=encoding
    )
    of_position = base.transform_filter(alt.datum["order"] == PARTS.index("position"))
    between = of_position.encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high"))
    return layered(bars, *(edged(between) if long["low"].notna().any() else ()), height=320)
