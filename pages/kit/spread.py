"""Means over heads by layer as lines with bands, and every head as a point."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, Scale, cell_selection, coloured, layered, tooltips
from pages.charts.colours import MARKED
from pages.words.columns import title as title_of

_HEAD = "head"  # name of the selection; what is clicked has fields layer and head
_SPREAD = 0.34  # width of a layer over which points are spread, so that all are visible


def spread(
    frame: pd.DataFrame,
    *,
    colour: str,
    title: str,
    axis: alt.Axis,
    format: str,
    marked: tuple[int, int],
    dashed: str | None = None,
    scale: Scale = "linear",
    height: int,
) -> Any:
    """Draw lines of means under points of single heads.

    Args:
        frame: rows layer, head (missing for means), mean, low, high and the column of colours.
        dashed: the value of the column of colours whose line is a reference, without points.
        marked: head with a ring around its points.
    """
    if scale == "log":  # which shows nothing from 0 down; an interval that reaches it ends there
        frame = frame[frame["mean"] > 0]
        frame = frame.assign(low=frame["low"].where(frame["low"] > 0, frame["mean"]))
    numbers = sorted(int(layer) for layer in frame["layer"].unique())
    every = frame.assign(
        x=frame["layer"] + _shift(frame, colour), head=frame["head"].astype("Int64")
    )
    of_head, of_reference = every["head"].notna(), every[colour] == dashed
    chosen = (every["layer"] == marked[0]) & (every["head"] == marked[1])
    every, encoding, _ = coloured(every, colour, " ")
    x = alt.X(
        "x:Q",
        title=title_of("layer"),
        scale=alt.Scale(domain=[numbers[0] - 0.5, numbers[-1] + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=numbers, format="d", labelAngle=0, grid=False),
    )
    y: dict[str, Any] = {"title": title, "scale": alt.Scale(type=scale), "axis": axis}

    def of(rows: pd.Series) -> alt.Chart:
        return Chart(every[rows]).encode(x=x, y=alt.Y("mean:Q", **y), color=encoding)

    def hover(*columns: str) -> list[alt.Tooltip]:
        titles = dict.fromkeys((*columns, colour)) | {"mean": title}
        return tooltips({**titles, "low": None, "high": None}, every, format)

    means = of(~of_head & ~of_reference)
    parts = [
        means.mark_area(opacity=0.2, aria=False).encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high")),
        means.mark_line(strokeWidth=2.5, point={"size": 50, "filled": True}).encode(
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
        reference = of(of_reference & ~of_head).mark_line(strokeDash=[6, 4], point=False)
        parts.insert(2, reference.encode(tooltip=hover("layer")))
    return layered(*parts, height=height)


def _shift(frame: pd.DataFrame, colour: str) -> pd.Series:
    """Shift of the points of heads sideways, so that colours do not overlap; 0 for means."""
    heads = frame["head"].notna()
    present = list(dict.fromkeys(frame.loc[heads, colour]))
    middle, step = (len(present) - 1) / 2, _SPREAD / max(len(present) - 1, 1)
    shift = {value: (at - middle) * step for at, value in enumerate(present)}
    return frame[colour].map(shift).where(heads, 0.0)
