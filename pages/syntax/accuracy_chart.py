"""A row per relation: how often heads are right, with intervals, and what a fixed offset gets."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import cell_selection, flat_axis, tooltips
from pages.ui.words.say import say

HEAD_COLOUR, OFFSET_COLOUR, OTHER_COLOUR = SERIES_COLOURS[0], SERIES_COLOURS[1], SERIES_COLOURS[2]
CLICKED = "relation"
"""Name of the selection and of the field that tells which row was clicked."""
_ROW, _AROUND = 24, 140


def accuracy_rows(
    frame: pd.DataFrame, *, colours: Mapping[str, str], order: Sequence[str], told: Mapping
) -> Any:
    """Points with intervals, a tick for the best fixed offset.

    Args:
        frame: rows relation, name, series, accuracy, low, high (missing where there is no
            interval), offset_accuracy (missing where no offset was scored).
        colours: of the series, in the order of the legend.
        order: names from top to bottom.
        told: columns and titles of the tooltip.
    """
    offset = say("syntax.offset.best")
    shown = frame.assign(of_offset=offset)
    every = {**colours, offset: OFFSET_COLOUR}
    legend = alt.Legend(orient="top", symbolType="square", labelLimit=0)
    scale = alt.Scale(domain=list(every), range=list(every.values()))
    base = alt.Chart(shown).encode(
        y=alt.Y(
            "name:N",
            title=None,
            sort=list(order),
            axis=alt.Axis(labelLimit=330, labelOverlap=False, ticks=False, grid=True),
        ),
        tooltip=tooltips({**told}, shown, ".1%"),
    )
    beside: dict[str, Any] = (
        {"yOffset": alt.YOffset("series:N", sort=list(colours))} if len(colours) > 1 else {}
    )

    def across(column: str) -> alt.X:
        axis = alt.Axis(format="%", tickCount=10)
        title = say("syntax.accuracy_axis")
        return alt.X(f"{column}:Q", title=title, axis=axis, scale=alt.Scale(domain=[0, 1]))

    def coloured(column: str) -> alt.Color:
        return alt.Color(f"{column}:N", title=" ", scale=scale, legend=legend)

    rows = base.encode(**beside)
    interval = rows.mark_rule(strokeWidth=2).encode(
        x=across("low"), x2="high", color=coloured("series")
    )
    offsets = base.mark_tick(thickness=3, height=14, opacity=1, orient="vertical").encode(
        x=across("offset_accuracy"), color=coloured("of_offset")
    )
    points = rows.mark_circle(size=80, opacity=1, cursor="pointer").encode(
        x=across("accuracy"), color=coloured("series")
    )
    points = points.add_params(cell_selection(CLICKED, CLICKED))
    height = _ROW * max(shown["name"].nunique(), 1) * (1.4 if beside else 1) + _AROUND
    return alt.layer(offsets, interval, points).properties(height=height)


def offset_bars(offsets: pd.DataFrame) -> Any:
    """What every fixed offset gets on a relation.

    Args:
        offsets: rows offset, n, accuracy.
    """
    told = {"offset": say("syntax.offset.axis"), "accuracy": say("syntax.accuracy")}
    return (
        alt.Chart(offsets)
        .mark_bar(color=OFFSET_COLOUR, cornerRadiusEnd=1)
        .encode(
            x=alt.X("offset:O", title=told["offset"], axis=flat_axis()),
            y=alt.Y(
                "accuracy:Q",
                title=told["accuracy"],
                axis=alt.Axis(format=".0%", tickCount=4),
            ),
            tooltip=tooltips({**told, "n": say("syntax.n")}, offsets, ".1%"),
        )
        .properties(height=240)
    )
