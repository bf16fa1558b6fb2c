"""Pairs of stacked bars for every layer, to compare compositions."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, coloured, flat_axis, tooltips
from pages.words.columns import title, value_name


def paired_stacks(
    frame: pd.DataFrame,
    *,
    y: str,
    colour: str,
    side: str,
    sides: Sequence[str],
    opacities: Sequence[float],
    colours: Mapping[str, str] | None = None,
    tooltip: Sequence[str],
    format: str,
    height: int,
) -> Any:
    """Draw stacked bars over layers, with the sides next to each other at different opacities.

    Args:
        y: shares that add up to 1 in every layer and side.
        colours: of the values in the colour column, the first at the bottom; not needed where the
            column has colours of its own.
        side: the column that distinguishes the sides.
        sides: its values from left to right.
        opacities: of the sides.
        tooltip: further columns that the tooltip shows.
    """
    names = [value_name(side, value) for value in sides]
    frame, encoding, order = coloured(frame, colour, title(colour), colours)
    shown = frame.assign(
        place=frame[colour].map({name: place for place, name in enumerate(order)}),
        **{side: [value_name(side, value) for value in frame[side]]},
    )
    legend = alt.Legend(
        orient="bottom",
        direction="horizontal",
        symbolType="square",
        symbolFillColor="#808080",
        symbolStrokeColor="#808080",
    )
    faintness = alt.Scale(type="ordinal", domain=names, range=list(opacities))
    return (
        Chart(shown)
        .mark_bar(stroke="#80808055", strokeWidth=0.5)
        .encode(
            x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
            xOffset=alt.XOffset(f"{side}:N", sort=names),
            y=alt.Y(
                f"{y}:Q",
                title=title(y),
                stack="zero",
                scale=alt.Scale(domain=[0, 1], nice=False),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=encoding,
            opacity=alt.Opacity(f"{side}:N", title=" ", scale=faintness, legend=legend),
            order=alt.Order("place:Q"),
            tooltip=tooltips(dict.fromkeys(("layer", colour, side, *tooltip, y)), shown, format),
        )
        .properties(height=height)
    )
