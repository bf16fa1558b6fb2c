"""Means over heads by layer as lines with intervals, and every head as a point."""

from typing import Any

import altair as alt
import pandas as pd

from pages.habits.opened_head import opened_head
from pages.ui.charts.chart_theme import Chart, Scale, cell_selection, coloured, layered, tooltips
from pages.ui.charts.colours import MARKED
from pages.ui.head.choice import to_head
from pages.ui.view import View
from pages.ui.words.columns import title

_HEAD = "head"  # name of the selection; what is clicked has fields layer and head
_SPREAD = 0.34  # width of a layer over which points are spread, so that all are visible


def draw_layers(
    view: View,
    name: str,
    means: pd.DataFrame,
    heads: pd.DataFrame,
    *,
    y_title: str,
    format: str,
    state: str,
    colour: str = "habit",
    dashed: str | None = None,
    y_format: str = "~g",
    y_scale: Scale = "linear",
    **options: Any,
) -> None:
    """Draw means over layers as lines, under points of single heads; a click opens a head.

    Args:
        means: rows layer, mean, low, high and the column of colours.
        heads: rows layer, head, mean and the column of colours.
        state: of the choices that it depends on.
        dashed: the value of the column of colours whose line is a reference, without points.
        options: further ones of `View.figure`.
    """
    frame, marked = pd.concat([means, heads], ignore_index=True), opened_head(view)
    if y_scale == "log":
        means, heads = _positive(means), _positive(heads)
    numbers = sorted(int(layer) for layer in means["layer"].unique())
    every = pd.concat([means.assign(x=means["layer"]), _spread(heads, colour)], ignore_index=True)
    every["head"] = every["head"].astype("Int64")
    of_head, of_reference = every["head"].notna(), every[colour] == dashed
    chosen = (every["layer"] == marked[0]) & (every["head"] == marked[1])
    every, encoding, _ = coloured(every, colour, " ")
    x = alt.X(
        "x:Q",
        title=title("layer"),
        scale=alt.Scale(domain=[numbers[0] - 0.5, numbers[-1] + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=numbers, format="d", labelAngle=0, grid=False),
    )
    y: dict[str, Any] = {
        "title": y_title,
        "scale": alt.Scale(type=y_scale),
        "axis": alt.Axis(format=y_format, tickCount=6),
    }

    def of(rows: pd.Series) -> alt.Chart:
        return Chart(every[rows]).encode(x=x, y=alt.Y("mean:Q", **y), color=encoding)

    def hover(*columns: str) -> list[alt.Tooltip]:
        titles = dict.fromkeys((*columns, colour)) | {"mean": y_title}
        return tooltips({**titles, "low": None, "high": None}, every, format)

    lines = of(~of_head & ~of_reference)
    parts = [
        lines.mark_area(opacity=0.2, aria=False).encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high")),
        lines.mark_line(strokeWidth=2.5, point={"size": 50, "filled": True}).encode(
            tooltip=hover("layer")
        ),
        of(of_head)
        .mark_circle(size=46, opacity=0.6, cursor="pointer")
        .encode(tooltip=hover("layer", "head"))
        .add_params(cell_selection(_HEAD, "layer", "head")),
        Chart(every[chosen])
        .mark_point(size=110, stroke=MARKED, strokeWidth=2.5, filled=False, aria=False)
        .encode(x=x, y=alt.Y("mean:Q", **y)),
    ]
    if of_reference.any():
        reference = of(of_reference).mark_line(strokeDash=[6, 4], point=False)
        parts.insert(2, reference.encode(tooltip=hover("layer")))
    chart = layered(*parts, height=380)
    view.figure(name, frame, chart, state=(state, *marked), click=to_head, **options)


def _positive(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep what a logarithmic axis can show; an interval that reaches 0 is cut at its mean."""
    frame = frame[frame["mean"] > 0]
    return frame.assign(low=frame["low"].where(frame["low"] > 0, frame["mean"]))


def _spread(heads: pd.DataFrame, colour: str) -> pd.DataFrame:
    """Shift the points of each colour sideways so that colours do not overlap."""
    present = list(dict.fromkeys(heads[colour]))
    middle, step = (len(present) - 1) / 2, _SPREAD / max(len(present) - 1, 1)
    shift = {value: (at - middle) * step for at, value in enumerate(present)}
    return heads.assign(x=heads["layer"] + heads[colour].map(shift))
