"""Curves over offsets, one above the other, each with its peak marked."""

from typing import Any

import altair as alt
import pandas as pd

from pages.positions.offsets import offset_axis
from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import column_tooltips, layered
from pages.ui.words.columns import title
from pages.ui.words.offsets import offset_label

WIDTH, _CURVE = 660, 150


def offsets_across(domain: tuple[int, int], *, titled: bool = False) -> alt.X:
    return alt.X(
        "offset:Q",
        title=title("offset") if titled else None,
        scale=alt.Scale(domain=[domain[0] - 0.5, domain[1] + 0.5], nice=False, zero=False),
        axis=offset_axis(tickCount=13),
    )


def curve_over_offsets(
    curves: pd.DataFrame, curve: str, x: alt.X, *, colour: str, peak: int, width: int = WIDTH
) -> Any:
    """A line over offsets with its greatest value within the window marked, and a band between the
    ends of its interval where the frame has them."""
    axis = alt.Axis(format=".3~r", tickCount=4, minExtent=36)
    low, high = ends = f"{curve}_low", f"{curve}_high"
    sure = low in curves and curves[low].notna().any()
    y: dict[str, Any] = {"title": None, "scale": alt.Scale(zero=False), "axis": axis}
    columns = (curve, *ends) if sure else (curve,)
    base = alt.Chart(curves).encode(
        x=x,
        y=alt.Y(f"{curve}:Q", **y),
        tooltip=column_tooltips(curves, offset="+d", **dict.fromkeys(columns, ".4~g")),
    )
    between = base.encode(y=alt.Y(f"{low}:Q", **y), y2=alt.Y2(high))
    bands = [between.mark_area(color=colour, opacity=0.2)] if sure else []
    line = base.mark_line(color=colour, point={"size": 18, "filled": True, "color": colour})
    at = curves[curves["offset"] == peak].assign(label=f"t = {offset_label(peak)}")
    marked = alt.Chart(at).encode(x=x)
    rule = marked.mark_rule(color=MARKED, strokeWidth=2, strokeDash=[6, 4])
    label = marked.mark_text(fontSize=12, fontWeight="bold")
    chart = layered(rule, *bands, line, label.encode(y=alt.YValue(-8), text=alt.Text("label:N")))
    return chart.properties(title=heading(title(curve)), width=width, height=_CURVE)


def heading(name: str) -> alt.Title:
    """The title of one of several charts."""
    return alt.Title(name, anchor="start", frame="group", offset=14)
