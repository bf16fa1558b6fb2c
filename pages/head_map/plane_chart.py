"""Heads as points of a plane, with the same scale in nats on both axes."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.chart_theme import Chart, cell_selection, layered, ringed, tooltips
from pages.ui.charts.encodings import named, of_layers
from pages.ui.head.choice import Head
from pages.ui.words.columns import title

MARK = "mark"
"""Name of the selection; what is clicked has fields layer and head."""
_HEIGHT, _SIZE = 480, 90
_ROOM = 1.08  # of what the points need, so that none is cut off


def plane_chart(
    points: pd.DataFrame,
    *,
    marked: Head,
    colours: Mapping[str, str] | None = None,
    shapes: Mapping[str, str] | None = None,
    value: str | None = None,
) -> Any:
    """Draw the plane; a click on a point selects its head.

    Args:
        points: rows layer, head, x, y, and name if colours are given.
        colours: by name, in the order of the legend; by layer if None.
        value: the column of a share that colours the points instead.
        shapes: by name, in addition to the colours.
    """
    base = Chart(points).encode(x=_axis(points, "x"), y=_axis(points, "y"))
    shown = ("layer", "head", *(["name"] if colours else []), *([value] if value else []))
    colour = _share_colour(value) if value else of_layers(points)
    marks = base.mark_point(
        filled=True, size=_SIZE, opacity=1, cursor="pointer", stroke="#80808080"
    ).encode(
        color=_named(alt.Color, points, colours) if colours else colour,
        tooltip=tooltips(dict.fromkeys(shown), points, ".2f"),
    )
    if shapes:
        marks = marks.encode(shape=_named(alt.Shape, points, shapes))
    marks = marks.add_params(cell_selection(MARK, "layer", "head"))
    ring = ringed(base, marked, size=_SIZE * 3)
    return layered(marks, ring, height=_HEIGHT)


def _named(channel: Any, points: pd.DataFrame, looks: Mapping[str, str]) -> Any:
    """Colours or shapes of the names that occur."""
    present = {name: look for name, look in looks.items() if name in set(points["name"])}
    return named("name", present, channel, title=None, columns=3, symbolOpacity=1)


def _share_colour(value: str) -> alt.Color:
    """Colour scale of a share, from dark to light."""
    scale = alt.Scale(scheme="viridis", zero=True)
    legend = alt.Legend(orient="top", format="~%", gradientLength=190)
    return alt.Color(f"{value}:Q", title=title(value), scale=scale, legend=legend)


def _axis(points: pd.DataFrame, name: str) -> Any:
    """Axis around 0, with the same scale in nats as the other axis."""
    reach = {axis: _ROOM * max(float(points[axis].abs().max()), 1e-6) for axis in ("x", "y")}
    side, other = ("width", "height") if name == "x" else ("height", "width")
    crossed = "y" if name == "x" else "x"
    half = f"max({reach[name]}, {reach[crossed]} * {side} / {other})"
    scale = alt.Scale(domain=[alt.ExprRef(f"-{half}"), alt.ExprRef(half)], nice=False, zero=False)
    encoding = alt.X if name == "x" else alt.Y
    axis = alt.Axis(tickCount=5, format="~g", grid=True)
    return encoding(f"{name}:Q", title=title(name), scale=scale, axis=axis)
