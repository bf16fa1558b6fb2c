"""The centres of the clusters as small charts, and how much each number of clusters explains."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.words.offsets import PEAK_COLOUR, offset_axis
from pages.ui.words.say import say

_COLUMNS, _WIDTH, _HEIGHT = 3, 235, 96


def centre_charts(centres: pd.DataFrame, names: dict[str, str]) -> Any:
    """An area chart per cluster, all of one scale.

    Args:
        centres: rows name, offset, attention, n.
        names: colour of every cluster by its name, in the order of the charts.
    """
    top = float(centres["attention"].max())
    parts = [
        _centre(centres[centres["name"] == name], name, colour, top, first=not place % _COLUMNS)
        for place, (name, colour) in enumerate(names.items())
    ]
    return alt.concat(*parts, columns=_COLUMNS, spacing=18)


def _centre(centre: pd.DataFrame, name: str, colour: str, top: float, *, first: bool) -> Any:
    base = alt.Chart(centre).encode(
        x=alt.X(
            "offset:Q",
            title=None,
            scale=alt.Scale(zero=False, nice=False),
            axis=offset_axis(values=[-10, -5, 0, 5, 10], grid=True),
        ),
        y=alt.Y(
            "attention:Q",
            title=None,
            scale=alt.Scale(domain=[0, 1.15 * top], nice=False),
            axis=alt.Axis(format=".0%", tickCount=3, labels=first, ticks=first),
        ),
        tooltip=[
            alt.Tooltip("offset:Q", title=say("positions_head.offset"), format="+d"),
            alt.Tooltip("attention:Q", title=say("positions_head.attention"), format=".1%"),
        ],
    )
    area = base.mark_area(color=colour, opacity=0.45, interpolate="linear")
    line = base.mark_line(color=colour, point={"color": colour, "size": 14})
    n = f"{int(centre['n'].iloc[0]):,}" if len(centre) else "0"
    title = alt.Title(
        name,
        subtitle=say("positions_head.heads.profiles_in", n=n),
        subtitleColor="#808995",
        anchor="start",
        frame="group",
    )
    return alt.layer(area, line).properties(title=title, width=_WIDTH, height=_HEIGHT)


def explained_chart(explained: pd.DataFrame, k: int) -> Any:
    """Explained share over the number of clusters, the chosen one marked.

    Args:
        explained: rows k, explained.
    """
    base = alt.Chart(explained).encode(
        x=alt.X("k:O", title=say("positions_head.heads.k"), axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "explained:Q",
            title=say("positions_head.heads.explained"),
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=[
            alt.Tooltip("k:Q", title=say("positions_head.heads.k")),
            alt.Tooltip("explained:Q", title=say("positions_head.heads.explained"), format=".1%"),
        ],
    )
    colour = SERIES_COLOURS[0]
    line = base.mark_line(color=colour, point={"size": 46, "filled": True, "color": colour})
    chosen = base.transform_filter(alt.datum["k"] == k)
    ring = chosen.mark_point(size=190, stroke=PEAK_COLOUR, strokeWidth=2.5, fillOpacity=0)
    label = chosen.mark_text(dy=-18, fontSize=12, color=PEAK_COLOUR).encode(
        text=alt.Text("explained:Q", format=".0%")
    )
    return alt.layer(line, ring, label).properties(height=230)
