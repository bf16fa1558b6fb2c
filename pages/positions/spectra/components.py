"""How many dimensions the position embeddings need (figure 9)."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import NEUTRAL, SERIES_COLOURS
from pages.ui.charts.look import column_tooltips
from pages.ui.words.columns import title
from pages.ui.words.numbers import percent
from pages.ui.words.place import said

_OF_THE_PAPER = (4, 12)
_LEAST = 24  # components that are drawn where fewer would do
_NEARLY_ALL = 0.95


def needed(variance: pd.DataFrame, share: float) -> int:
    """The least number of components that hold a share of the variance."""
    enough = variance[variance["cumulative"] >= share - 1e-9]
    return int(enough["component"].min()) if len(enough) else int(variance["component"].max())


def components_chart(variance: pd.DataFrame) -> Any:
    """What each component holds and what they hold together, with the paper's 4 and 12 marked."""
    last = max(_LEAST, needed(variance, _NEARLY_ALL) + 4)
    frame = variance[variance["component"] <= last]
    x = alt.X(
        "component:Q",
        title=title("component"),
        scale=alt.Scale(domain=[0, int(frame["component"].max()) + 1], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, grid=False),
    )
    y = alt.Y(
        "cumulative:Q",
        title=said("components_axis"),
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    told = column_tooltips(frame, component="d", ratio=".2%", cumulative=".2%")
    base = alt.Chart(frame).encode(x=x, tooltip=told)
    bars = base.mark_bar(color=NEUTRAL, opacity=0.55, size=9).encode(
        y=alt.Y("ratio:Q", title=said("components_axis"))
    )
    line = base.mark_line(color=SERIES_COLOURS[0], point={"size": 40, "filled": True}).encode(y=y)
    return alt.layer(bars, line, *_marks(frame, x)).properties(height=320)


def _marks(frame: pd.DataFrame, x: alt.X) -> list[alt.Chart]:
    """The paper's numbers of components, each with what they hold here."""
    marked = frame[frame["component"].isin(_OF_THE_PAPER)]
    if marked.empty:
        return []
    shares = zip(marked["component"], marked["cumulative"], strict=True)
    labels = [said("components_mark", n=n, share=percent(share)) for n, share in shares]
    base = alt.Chart(marked.assign(label=labels)).encode(x=x)
    words = base.mark_text(color=SERIES_COLOURS[1], align="left", dx=9, dy=16, fontSize=12)
    return [
        base.mark_rule(color=SERIES_COLOURS[1], strokeDash=[4, 3]),
        words.encode(y=alt.Y("cumulative:Q"), text="label:N"),
    ]
