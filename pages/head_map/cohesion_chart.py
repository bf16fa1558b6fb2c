"""Mean distances within and between layers, one layer after the other."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import flat_axis, tooltips
from pages.ui.words.say import say

_COLOURS = (SERIES_COLOURS[0], SERIES_COLOURS[1])
_SIDES = ("within", "between")


def cohesion_chart(layers: pd.DataFrame) -> Any:
    """Two points per layer with a rule from one to the other.

    Args:
        layers: rows layer, within, between, difference, p_value.
    """
    names = [say(f"head_map.layers.{each}") for each in _SIDES]
    long = layers.melt(
        id_vars=["layer", "difference", "p_value"],
        value_vars=list(_SIDES),
        var_name="side",
        value_name="distance",
    )
    long = long.assign(side=long["side"].map(dict(zip(_SIDES, names, strict=True))))
    x = alt.X("layer:O", title=say("axis.layer"), axis=flat_axis())
    title = say("head_map.distance_axis")
    rules = (
        alt.Chart(layers)
        .mark_rule(strokeWidth=2, color=SERIES_COLOURS[4])
        .encode(x=x, y=alt.Y("within:Q", title=title), y2="between")
    )
    told: dict[str | None, str | None] = {
        "layer": say("axis.layer"),
        "side": " ",
        "distance": title,
        "difference": say("head_map.layers.difference"),
    }
    p_value = alt.Tooltip("p_value:Q", title=say("head_map.layers.p_value"), format=".4f")
    points = (
        alt.Chart(long)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=x,
            y=alt.Y("distance:Q", title=title, axis=alt.Axis(tickCount=6)),
            color=alt.Color(
                "side:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(_COLOURS)),
                legend=alt.Legend(orient="top", labelLimit=0),
            ),
            shape=alt.Shape(
                "side:N", title=None, scale=alt.Scale(domain=names, range=["circle", "diamond"])
            ),
            tooltip=[*tooltips(told, long, ".3f"), p_value],
        )
    )
    return alt.layer(rules, points).properties(height=320)
