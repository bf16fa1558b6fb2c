"""Accuracy in per cent, a row per relation or per parser."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.ui.charts.colours import SERIES_COLOURS, SYNTAX_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.words.columns import NAMED, shown_as, title
from pages.ui.words.numbers import offset_label
from pages.ui.words.scope import say_here

HEAD_COLOUR, OFFSET_COLOUR, OTHER_COLOUR = SYNTAX_COLOURS
CONTROL_COLOUR = SERIES_COLOURS[4]
CLICKED = "row"


def accuracy_rows(
    frame: pd.DataFrame,
    *,
    colours: Mapping[str, str],
    tooltip: Sequence[str],
    fields: Sequence[str] = ("relation",),
) -> Any:
    """Points with intervals, and a tick for the best fixed offset.

    Args:
        frame: rows relation, relation_named, series, accuracy, low, high (missing where there is
            no interval), offset and offset_accuracy (missing where no offset was scored); the
            relation that comes first is on top.
        colours: of the series, in the order of the legend.
        fields: columns that a click gives.
    """
    offset, axis = title("offset"), say_here("accuracy_axis")
    signed = frame["offset"].map(offset_label, na_action="ignore")
    shown = frame.assign(offset_named=signed, of_offset=offset)
    legend = {**colours, offset: OFFSET_COLOUR}
    order = shown["relation_named"].drop_duplicates().tolist()
    base = _rows(shown, "relation", order, tooltip)
    several: dict[str, Any] = {"yOffset": alt.YOffset("series:N", sort=list(colours))}
    rows = base.encode(**several) if len(colours) > 1 else base
    series, of_offset = (
        named(name, legend, symbolType="square") for name in ("series", "of_offset")
    )
    intervals = rows.mark_rule(strokeWidth=2)
    ticks = base.mark_tick(thickness=3, height=14, opacity=1, orient="vertical")
    points = rows.mark_circle(size=80, opacity=1, cursor="pointer")
    parts = [
        ticks.encode(x=_across("offset_accuracy", axis), color=of_offset),
        intervals.encode(x=_across("low", axis), x2=alt.X2("high"), color=series),
        points.encode(x=_across("accuracy", axis), color=series).add_params(
            cell_selection(CLICKED, *fields)
        ),
    ]
    height = 24 * max(shown["relation"].nunique(), 1) * (1.4 if len(colours) > 1 else 1) + 140
    return layered(*parts, height=height)


def parser_rows(seeds: pd.DataFrame, means: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """Draw every seed as a point and their mean as a bar, in the colour of the kind."""
    order = means.sort_values("mean", ascending=False)["method_named"].tolist()
    axis, kind = say_here("uas_axis"), named("kind", colours, symbolType="square")
    bars = _rows(means, "method", order, ["method", "mean"])
    bars = bars.mark_bar(opacity=0.45, size=20, cornerRadiusEnd=2)
    points = _rows(seeds, "method", order, ["method", "seed", "uas", "n"])
    points = points.mark_circle(size=64, opacity=1)
    parts = [
        bars.encode(x=_across("mean", axis), color=kind),
        points.encode(x=_across("uas", axis), color=kind),
    ]
    return layered(*parts, height=40 * len(means) + 130)


def _rows(
    frame: pd.DataFrame, column: str, order: Sequence[str], tooltip: Sequence[str]
) -> alt.Chart:
    axis = alt.Axis(labelLimit=330, labelOverlap=False, ticks=False, grid=True)
    return Chart(frame).encode(
        y=alt.Y(f"{column}{NAMED}:N", title=None, sort=list(order), axis=axis),
        tooltip=tooltips(dict.fromkeys(shown_as(name, frame) for name in tooltip), frame, ".1%"),
    )


def _across(column: str, axis: str) -> alt.X:
    """Axis of shares from 0 to 1, the same in all charts."""
    per_cent = alt.Axis(format="%", tickCount=10)
    return alt.X(f"{column}:Q", title=axis, axis=per_cent, scale=alt.Scale(domain=[0, 1]))
