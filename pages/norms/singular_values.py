"""Chart of the singular values of f in some heads, on the range of all heads (figure 2)."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, layered, tooltips
from pages.charts.colours import MARKED, ZERO
from pages.charts.encodings import of_layers
from pages.kit.section import Choices
from pages.words.columns import title


def singular_values(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw a line per head over the rank, the chosen head's in the colour of marks.

    Args:
        frame: layer, head, rank, value, is_chosen, and min and max of all heads at the rank.
    """
    scale = alt.Scale(type="log", nice=False) if choices["spectrum"] == "log" else alt.Scale()
    y: dict[str, Any] = {"title": title("value"), "scale": scale}
    ends = [1, int(frame["rank"].max())]
    x = alt.X(
        "rank:Q",
        title=title("rank"),
        scale=alt.Scale(domain=ends, nice=False),
        axis=alt.Axis(format="d", tickMinStep=1),
    )
    band = Chart(frame.drop_duplicates("rank")).mark_area(color=ZERO, opacity=0.2)
    base = Chart(frame).encode(x=x, y=alt.Y("value:Q", **y), detail=["layer:N", "head:N"])
    coloured = base.encode(
        color=of_layers(frame),
        tooltip=tooltips(dict.fromkeys(("layer", "head", "rank", "value")), frame, ".4f"),
    )
    chosen = base.transform_filter("datum.is_chosen").mark_line(strokeWidth=3, color=MARKED)
    return layered(
        band.encode(x=x, y=alt.Y("min:Q", **y), y2=alt.Y2("max")),
        coloured.mark_line(strokeWidth=1.8),
        chosen,
        coloured.mark_point(size=40, opacity=0),
        height=300,
    )
