"""All distances as one square of cells."""

from typing import Any

import altair as alt
import pandas as pd

from pages.head_map.apart import DISTANCE
from pages.head_map.plane_chart import MARK
from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import cell_selection, tooltips
from pages.ui.head.choice import Head
from pages.ui.words.columns import title

_SIDE = 640
_OVERLAP = 1.04  # a little more than a place, lest the ground shines through between cells


def matrix_chart(frame: pd.DataFrame, *, by_layer: bool, marked: Head) -> Any:
    """The chart; a click on a cell selects the head of its row.

    Args:
        frame: rows layer, head, layer_b, head_b, mean_divergence, x, y; places from 0.
        by_layer: whether heads stand in the order of layers, which are then named at the edges.
        marked: the head of the row with a frame around it.
    """
    n = int(frame["y"].max()) + 1
    name = title("heads_by_layer" if by_layer else "heads_alike")
    n_layers = frame["layer"].nunique()
    axis = alt.Axis(
        labels=by_layer,
        values=[n / n_layers * (number + 0.5) for number in range(n_layers)],
        labelExpr=f"floor(datum.value / {n / n_layers}) + 1",
        labelAngle=0,
        ticks=False,
        grid=False,
    )
    scale = {"domain": [0, n], "nice": False, "zero": False}
    x = alt.X("x:Q", title=name, axis=axis, scale=alt.Scale(**scale))
    y = alt.Y("y:Q", title=name, axis=axis, scale=alt.Scale(**scale, reverse=True))
    shown = frame.assign(x2=frame["x"] + _OVERLAP, y2=frame["y"] + _OVERLAP)
    titles: dict[str | None, str | None] = {"layer": title("layer_a"), "head": title("head_a")}
    titles |= {name: title(name) for name in ("layer_b", "head_b", DISTANCE)}
    colour = alt.Color(
        f"{DISTANCE}:Q",
        title=title("nats"),
        scale=alt.Scale(scheme="viridis", domainMin=0, reverse=True),
        legend=alt.Legend(format=".1f", gradientLength=220, orient="right"),
    )
    cells = (
        alt.Chart(shown)
        .mark_rect(cursor="pointer")
        .encode(x=x, y=y, x2="x2", y2="y2", color=colour, tooltip=tooltips(titles, shown, ".3f"))
        .add_params(cell_selection(MARK, "layer", "head"))
    )
    row = shown[(shown["layer"] == marked[0]) & (shown["head"] == marked[1])].head(1)
    ring = (
        alt.Chart(row.assign(x=0, x2=n, y2=row["y"] + 1))
        .mark_rect(filled=False, stroke=MARKED, strokeWidth=2, aria=False, tooltip=False)
        .encode(x=x, x2="x2", y=y, y2="y2")
    )
    return alt.layer(cells, ring).properties(height=_SIDE)
