"""Stacked bars side by side for every place of an axis: one composition against another."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.look import coloured, flat_axis, tooltips
from pages.ui.words.say import say


def paired_stacks(
    frame: pd.DataFrame,
    *,
    y: str,
    colour: str,
    colours: Mapping[str, str],
    side: str,
    sides: tuple[str, ...],
    opacities: tuple[float, ...] = (0.45, 1.0),
    y_title: str,
    titles: Mapping[str, str],
    format: str = ".1%",
    height: int = 460,
) -> Any:
    """Bars over layers, the sides beside each other, told apart by how faint they are.

    Args:
        y: shares that add up to 1 in every layer and side.
        colours: of the names in the colour column; the first is at the bottom.
        side: the column that tells the two sides apart.
        sides: its values, as readers see them, from left to right.
        opacities: of the sides.
        titles: of what the tooltip tells besides y.
    """
    frame, encoding, order = coloured(frame, colour, titles[colour], colours)
    place = {name: number for number, name in enumerate(order)}
    shown = frame.assign(place=frame[colour].map(place))
    return (
        alt.Chart(shown)
        .mark_bar(stroke="#80808055", strokeWidth=0.5)
        .encode(
            x=alt.X("layer:O", title=say("axis.layer"), axis=flat_axis()),
            xOffset=alt.XOffset(f"{side}:N", sort=list(sides)),
            y=alt.Y(
                f"{y}:Q",
                title=y_title,
                stack="zero",
                scale=alt.Scale(domain=[0, 1], nice=False),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=encoding,
            opacity=alt.Opacity(
                f"{side}:N",
                title=" ",
                scale=alt.Scale(type="ordinal", domain=list(sides), range=list(opacities)),
                legend=alt.Legend(
                    orient="bottom",
                    direction="horizontal",
                    symbolType="square",
                    symbolFillColor="#808080",
                    symbolStrokeColor="#808080",
                    labelLimit=0,
                ),
            ),
            order=alt.Order("place:Q"),
            tooltip=tooltips({"layer": say("axis.layer"), **titles, y: y_title}, shown, format),
        )
        .properties(height=height)
    )
