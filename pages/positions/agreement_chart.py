"""How many heads of each layer agree, with the interval and what chance would give."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import flat_axis, tooltips
from pages.ui.words.say import say

_COLOURS = (SERIES_COLOURS[0], SERIES_COLOURS[1])


def agreement_chart(layers: pd.DataFrame) -> Any:
    """Points with intervals over layers, and a mark for chance.

    Args:
        layers: rows layer, n_heads, agreement, agreement_low, agreement_high, chance.
    """
    names = [say(f"positions_head.claim.{each}") for each in ("agreement", "chance")]
    shown = layers.assign(of_heads=names[0], of_chance=names[1])
    scale = alt.Scale(domain=names, range=list(_COLOURS))
    legend = alt.Legend(orient="top", symbolType="square", labelLimit=0)
    title = say("positions_head.claim.agreement_axis")
    axis = alt.Axis(format="%", tickCount=5)
    told: dict[str | None, str | None] = {
        "layer": say("axis.layer"),
        "n_heads": say("positions_head.claim.n_heads"),
        "agreement": names[0],
        "agreement_low": say("positions_head.low"),
        "agreement_high": say("positions_head.high"),
        "chance": names[1],
    }
    base = alt.Chart(shown).encode(
        x=alt.X("layer:O", title=say("axis.layer"), axis=flat_axis()),
        tooltip=tooltips(told, shown, ".0%"),
    )

    def height(column: str) -> alt.Y:
        return alt.Y(f"{column}:Q", title=title, axis=axis, scale=alt.Scale(domain=[0, 1]))

    def colour(column: str) -> alt.Color:
        return alt.Color(f"{column}:N", title=" ", scale=scale, legend=legend)

    chance = base.mark_tick(thickness=3, width=26, opacity=1).encode(
        y=height("chance"), color=colour("of_chance")
    )
    interval = base.mark_rule(strokeWidth=2).encode(
        y=height("agreement_low"), y2="agreement_high", color=colour("of_heads")
    )
    points = base.mark_circle(size=90, opacity=1).encode(
        y=height("agreement"), color=colour("of_heads")
    )
    return alt.layer(interval, chance, points).properties(height=300)
