"""Map of the amplitudes of all layers by frequency."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, column_tooltips, ramp
from pages.charts.colours import LESS_TO_MORE
from pages.charts.maps import Ramp
from pages.kit.section import Choices
from pages.words.columns import title

_CELL, _AROUND = 26, 70  # pixels of a layer; of the axis
_WIDEST = 64.0  # largest ratio, or its inverse, of the scale of ratios


def layer_map(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw a cell per layer and frequency: its amplitude, or the ratio to that without positions.

    The ratio 1 is the pale middle of the colours.
    """
    value = choices["shown"]
    step = frame["frequency"].min()
    edges = {"left": frame["frequency"] - step / 2, "right": frame["frequency"] + step / 2}
    colour = alt.Color(
        f"{value}:Q",
        title=title(value),
        scale=alt.Scale(type="log", scheme="viridis"),
        legend=ramp(".2~g"),
    )
    if value == "ratio":
        widest = min(max(frame["ratio"].max(), 1 / frame["ratio"].min(), 2.0), _WIDEST)
        ratios = Ramp(LESS_TO_MORE, 1 / widest, widest, log=True)
        colour = ratios.colour(frame["ratio"], title(value))
    x = alt.X("left:Q", title=title("frequency"), scale=alt.Scale(nice=False, zero=False))
    cells = Chart(frame.assign(**edges)).mark_rect()
    drawn = cells.encode(
        x=x,
        x2=alt.X2("right"),
        y=alt.Y("layer:O", title=title("layer"), axis=alt.Axis(labelOverlap=False)),
        color=colour,
        tooltip=column_tooltips(
            frame, layer="d", frequency=".3~g", period=".3~g", **{value: ".3~g"}
        ),
    )
    return drawn.properties(height=_CELL * max(frame["layer"].nunique(), 4) + _AROUND)
