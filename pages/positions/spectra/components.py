"""How many dimensions the position embeddings need (figure 9)."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import tooltips
from pages.ui.figure import figure
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

_OF_THE_PAPER = (4, 12)
_LEAST = 24  # components that are drawn where fewer would do
_NEARLY_ALL = 0.95


def needed(variance: pd.DataFrame, share: float) -> int:
    """The least number of components that hold a share of the variance."""
    enough = variance[variance["cumulative"] >= share - 1e-9]
    return int(enough["component"].min()) if len(enough) else int(variance["component"].max())


def components(variance: pd.DataFrame) -> None:
    """What each component holds and what they hold together, with the paper's 4 and 12 marked."""
    last = max(_LEAST, needed(variance, _NEARLY_ALL) + 4)
    question = say("positions.components.question")
    figure(
        _chart(variance[variance["component"] <= last]),
        key="po_components",
        question=question,
        caption=say(
            "positions.components.caption",
            half=needed(variance, 0.5),
            most=needed(variance, 0.9),
            all=count(len(variance)),
        ),
        frame=variance,
        alt=question,
    )


def _chart(frame: pd.DataFrame) -> Any:
    told: dict[str | None, str | None] = {
        "component": say("positions.components.component"),
        "ratio": say("positions.components.ratio"),
        "cumulative": say("positions.components.cumulative"),
    }
    x = alt.X(
        "component:Q",
        title=say("positions.components.component"),
        scale=alt.Scale(domain=[0, int(frame["component"].max()) + 1], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, grid=False),
    )
    y = alt.Y(
        "cumulative:Q",
        title=say("positions.components.axis"),
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    base = alt.Chart(frame).encode(x=x, tooltip=tooltips(told, frame, ".2%"))
    bars = base.mark_bar(color="#808995", opacity=0.55, size=9).encode(
        y=alt.Y("ratio:Q", title=say("positions.components.axis"))
    )
    line = base.mark_line(color=SERIES_COLOURS[0], point={"size": 40, "filled": True}).encode(y=y)
    return alt.layer(bars, line, *_marks(frame, x)).properties(height=320)


def _marks(frame: pd.DataFrame, x: alt.X) -> list[alt.Chart]:
    """The paper's numbers of components, each with what they hold here."""
    marked = frame[frame["component"].isin(_OF_THE_PAPER)]
    if marked.empty:
        return []
    shares = [percent(each) for each in marked["cumulative"]]
    told = [
        say("positions.components.mark", n=n, share=share)
        for n, share in zip(marked["component"], shares, strict=True)
    ]
    base = alt.Chart(marked.assign(told=told)).encode(x=x)
    rules = base.mark_rule(color="#d07c00", strokeDash=[4, 3])
    words = base.mark_text(color="#d07c00", align="left", dx=9, dy=16, fontSize=12).encode(
        y=alt.Y("cumulative:Q"), text="told:N"
    )
    return [rules, words]
