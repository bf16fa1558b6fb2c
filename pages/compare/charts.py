"""Colours of files, and the chart of heads against their matches."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, coloured, layered, tooltips
from pages.charts.colours import GROUP_COLOURS, NEUTRAL, SERIES_COLOURS
from pages.kit.section import Choices
from pages.services.open_file import ENDING
from pages.words.columns import title
from pages.words.scope import say_here

_HIGH = 400  # pixels


def colours(choices: Choices) -> dict[str, str]:
    """A colour for each file, by its label."""
    labels = [key.rpartition(":")[0].removesuffix(ENDING) for key in choices["files"]]
    return dict(zip(labels, GROUP_COLOURS, strict=False))


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
