"""Heads as points of a plane, with the same scale in nats on both axes."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, cell_selection, layered, ringed, tooltips
from pages.charts.encodings import named, of_layers
from pages.kit.section import Choices
from pages.words.columns import title

MARK = "mark"
"""Name of the selection; what is clicked has fields layer and head."""
_HEIGHT, _SIZE = 480, 90
_ROOM = 1.08  # of what the points need, so that none is cut off


def plane(
    points: pd.DataFrame,
    name: str,
    choices: Choices,
    *,
    colours: Mapping[str, str] | None = None,
    shapes: Mapping[str, str] | None = None,
    value: str | None = None,
) -> Any:
    """Draw points of heads by layer, by the names of `colours` and `shapes`, or by a share."""
    base = Chart(points).encode(x=_axis(points, "x", "y"), y=_axis(points, "y", "x"))
    shown = ("layer", "head", *(["name"] if colours else []), *([value] if value else []))
    colour = of_layers(points)
    if value:
        scale = alt.Scale(scheme="viridis", zero=True)
        legend = alt.Legend(orient="top", format="~%", gradientLength=190)
        colour = alt.Color(f"{value}:Q", title=title(value), scale=scale, legend=legend)
    marks = base.mark_point(
        filled=True, size=_SIZE, opacity=1, cursor="pointer", stroke="#80808080"
    ).encode(
        color=_named(alt.Color, points, colours) if colours else colour,
        tooltip=tooltips(dict.fromkeys(shown), points, ".2f"),
    )
    if shapes:
        marks = marks.encode(shape=_named(alt.Shape, points, shapes))
    marks = marks.add_params(cell_selection(MARK, "layer", "head"))
    ring = ringed(base, (choices["layer"], choices["head"]), size=_SIZE * 3)
    return layered(marks, ring, height=_HEIGHT)


def _named(channel: Any, points: pd.DataFrame, looks: Mapping[str, str]) -> Any:
    """Colours or shapes of the names that occur."""
    present = {name: look for name, look in looks.items() if name in set(points["name"])}
    return named("name", present, channel, title=None, columns=3, symbolOpacity=1)


def _axis(points: pd.DataFrame, name: str, crossed: str) -> Any:
    """Axis around 0, with the same scale in nats as the other axis."""
    reach = {axis: _ROOM * max(float(points[axis].abs().max()), 1e-6) for axis in ("x", "y")}
    side, other = ("width", "height") if name == "x" else ("height", "width")
    half = f"max({reach[name]}, {reach[crossed]} * {side} / {other})"
    scale = alt.Scale(domain=[alt.ExprRef(f"-{half}"), alt.ExprRef(half)], nice=False, zero=False)
    axis = alt.Axis(tickCount=5, format="~g", grid=True)
    encoding = alt.X if name == "x" else alt.Y
    return encoding(f"{name}:Q", title=title(name), scale=scale, axis=axis)
