"""Rows of dots with their intervals, one dot per file."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.compare.files import colours
from pages.ui.charts.chart_theme import Chart, coloured, layered, tooltips
from pages.ui.charts.colours import ZERO
from pages.ui.store.open_file import Store
from pages.ui.words.columns import title

_ROOM = 330  # pixels that names of rows have at most, those of a presented page
_AROUND = 130  # pixels down, of the axis and the legend
_DOT, _LEAST_ROW = 7, 21  # pixels down: of a file, of a row


def dots(
    frame: pd.DataFrame,
    compared: list[Store],
    *,
    x: str,
    rows: Sequence[str],
    tooltip: Sequence[str],
    width: int | None = None,
    named: bool = True,
    at_zero: bool = False,
) -> Any:
    """A row per `name`, in it a dot per file with a line from low to high.

    Args:
        frame: name, file, `x`, low, high, and the columns of `tooltip`.
        rows: the names in their order, also of rows that the frame lacks.
        width: of the marks alone, where charts stand side by side; that of the page if None.
        named: whether the names stand beside the rows.
        at_zero: whether a line is drawn where nothing differs.
    """
    shown, colour, _ = coloured(frame, "file", None, colours(compared))
    labels = [file.label for file in compared]
    axis = alt.Axis(
        title=None, labelLimit=_ROOM, labelPadding=6, ticks=False, domain=False, labelOverlap=False
    )
    scale = alt.Scale(domain=labels, paddingOuter=1)
    base = Chart(shown).encode(
        y=alt.Y(
            "name:N",
            sort=list(rows),
            scale=alt.Scale(domain=list(rows)),
            axis=axis if named else None,
        ),
        yOffset=alt.YOffset("file:N", sort=labels, scale=scale),
        color=colour,
        tooltip=tooltips(dict.fromkeys(("name", "file", x, "low", "high", *tooltip)), shown, ".4f"),
    )
    place = alt.X(f"{x}:Q", title=title(x), axis=alt.Axis(tickCount=6, grid=not at_zero))
    marks = [
        base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("low:Q", title=title(x)), x2=alt.X2("high:Q")
        ),
        base.mark_circle(size=56, opacity=1).encode(x=place),
    ]
    if at_zero:
        zero = Chart(pd.DataFrame({"level": [0.0]})).mark_rule(color=ZERO)
        marks.insert(0, zero.encode(x=alt.X("level:Q")))
    row = max(_LEAST_ROW, _DOT * (len(compared) + 1))
    chart, height = layered(*marks), row * len(rows)
    if width is None:
        return chart.properties(height=height + _AROUND)
    return chart.properties(width=width, height=height)
