"""Charts of several files: dots with their intervals, and heads against their matches."""

from typing import Any

import altair as alt
import pandas as pd

from pages.kit.section import Choices
from pages.ui.charts.chart_theme import Chart, coloured, layered, tooltips, with_axes
from pages.ui.charts.colours import GROUP_COLOURS, NEUTRAL, SERIES_COLOURS, ZERO
from pages.ui.charts.standard import lines
from pages.ui.store.open_file import ENDING
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

_VALUES, _CHANGES, _HIGH = 380, 250, 400  # pixels
_ROOM, _AROUND = 330, 130  # pixels: of names, those of a presented page; of axis and legend
_DOT, _LEAST_ROW = 7, 21  # pixels down: of a file, of a row


def _colours(choices: Choices) -> dict[str, str]:
    """A colour for each file, by its label."""
    labels = [key.rpartition(":")[0].removesuffix(ENDING) for key in choices["files"]]
    return dict(zip(labels, GROUP_COLOURS, strict=False))


def numbers(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the files' numbers and, if there are several, their differences from the open one."""
    if "difference" not in frame:
        return dots(frame, choices, x="mean", tooltip=("n",))
    is_number = frame["mean"].notna()
    values = dots(frame[is_number], choices, x="mean", tooltip=("n",), width=_VALUES)
    rest = {"tooltip": ("q", "n", "n_other"), "width": _CHANGES, "named": False, "at_zero": True}
    return alt.hconcat(values, dots(frame[~is_number], choices, x="difference", **rest), spacing=12)


def pairs(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    return dots(frame, choices, x="mean_delta", tooltip=("n", "rank"), at_zero=True)


def dots(
    frame: pd.DataFrame,
    choices: Choices,
    *,
    x: str,
    tooltip: tuple[str, ...],
    width: int | None = None,
    named: bool = True,
    at_zero: bool = False,
) -> Any:
    """Draw a row per `name`, in it a dot per file with a line from low to high.

    Args:
        width: of the marks alone, where charts stand side by side; that of the page if None.
        named: whether the names stand beside the rows.
        at_zero: whether a line is drawn where nothing differs.
    """
    colours, rows = _colours(choices), frame["name"].drop_duplicates().tolist()
    shown, colour, _ = coloured(frame, "file", None, colours)
    axis = alt.Axis(
        title=None, labelLimit=_ROOM, labelPadding=6, ticks=False, domain=False, labelOverlap=False
    )
    within = alt.Scale(domain=list(colours), paddingOuter=1)
    base = Chart(shown).encode(
        y=alt.Y("name:N", sort=rows, scale=alt.Scale(domain=rows), axis=axis if named else None),
        yOffset=alt.YOffset("file:N", sort=list(colours), scale=within),
        color=colour,
        tooltip=tooltips(dict.fromkeys(("name", "file", x, "low", "high", *tooltip)), shown, ".4f"),
    )
    marks = [
        base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("low:Q", title=title(x)), x2=alt.X2("high:Q")
        ),
        base.mark_circle(size=56, opacity=1).encode(
            x=alt.X(f"{x}:Q", title=title(x), axis=alt.Axis(tickCount=6, grid=not at_zero))
        ),
    ]
    if at_zero:
        zero = Chart(pd.DataFrame({"level": [0.0]})).mark_rule(color=ZERO)
        marks.insert(0, zero.encode(x=alt.X("level:Q")))
    height = max(_LEAST_ROW, _DOT * (len(colours) + 1)) * len(rows)
    chart = layered(*marks)
    if width is None:
        return chart.properties(height=height + _AROUND)
    return chart.properties(width=width, height=height)


def by_layer(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw a number of every file over its layers, or over depth, or its differences."""
    of_files: dict[str, Any] = {"colour": "file", "colours": _colours(choices)}
    if "difference" in frame:
        return lines(frame, y="difference", level=0.0, format="+.4f", **of_files)
    if "depth" not in frame:
        return lines(frame, y="mean", zero=False, **of_files)
    axis = alt.Axis(format=".1f", tickCount=6, labelAngle=0)
    return with_axes(lines(frame, x="depth", y="mean", zero=False, **of_files), x=axis)


def matching(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw every head against its match, both by layer; on the diagonal it is its own."""
    kinds = {True: say_here("is_same"), False: say_here("is_other")}
    colours = dict(zip(kinds.values(), SERIES_COLOURS, strict=False))
    kind = frame["is_same"].map(kinds)
    shown, colour, _ = coloured(frame.assign(kind=kind), "kind", None, colours)
    n, n_heads = len(frame), len(frame) // frame["layer"].nunique()
    middles = [first + (n_heads + 1) / 2 for first in range(0, n, n_heads)]
    label = f"{sorted(set(frame['layer']))}[floor(datum.value / {n_heads})]"
    of: dict[str, Any] = {
        "scale": alt.Scale(domain=[0, n + 1], nice=False),
        "axis": alt.Axis(values=middles, labelExpr=label, grid=False, labelAngle=0),
    }
    ends = Chart(pd.DataFrame({"place": [0, n + 1], "match": [0, n + 1]}))
    diagonal = ends.mark_line(color=NEUTRAL, strokeDash=[4, 4], tooltip=False)
    columns = dict.fromkeys(("own", "matched_with", "divergence", "to_itself"))
    points = Chart(shown).mark_circle(size=60, opacity=0.9)
    return layered(
        diagonal.encode(x=alt.X("place:Q"), y=alt.Y("match:Q")),
        points.encode(
            x=alt.X("place:Q", title=title("place"), **of),
            y=alt.Y("match:Q", title=title("match"), **of),
            color=colour,
            tooltip=tooltips(columns, shown, ".4f"),
        ),
        height=_HIGH,
    )
