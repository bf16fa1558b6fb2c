"""Three charts over one axis of offsets: directions one by one, their weighted sum, attention."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.words.offsets import (
    ATTENTION_COLOUR,
    PEAK_COLOUR,
    SCORE_COLOUR,
    offset_axis,
    offset_told,
)
from pages.ui.words.say import say

_WIDTH, _ROW, _CURVE = 660, 11, 150


@dataclass(frozen=True)
class Peaks:
    """The offsets at which the weighted cross-covariance and attention are greatest."""

    score: int
    attention: int


def correlation_chart(
    waves: pd.DataFrame, sums: pd.DataFrame, peaks: Peaks, *, domain: tuple[int, int]
) -> Any:
    """The charts below each other.

    Args:
        waves: rows rank, value, offset, correlation.
        sums: rows offset, score, given.
        domain: the offsets that are drawn.
    """
    parts = [] if waves.empty else [_directions(waves, domain)]
    for value, colour, peak in (
        ("score", SCORE_COLOUR, peaks.score),
        ("given", ATTENTION_COLOUR, peaks.attention),
    ):
        last = value == "given"
        parts.append(_curve(sums, value, colour, peak, x=_offsets(domain, titled=last)))
    return alt.concat(*parts, columns=1, spacing=10).resolve_scale(color="independent")


def _offsets(domain: tuple[int, int], *, titled: bool) -> alt.X:
    return alt.X(
        "offset:Q",
        title=say("positions_head.offset") if titled else None,
        scale=alt.Scale(domain=[domain[0] - 0.5, domain[1] + 0.5], nice=False, zero=False),
        axis=offset_axis(tickCount=13),
    )


def _directions(waves: pd.DataFrame, domain: tuple[int, int]) -> Any:
    """One row per direction, the strongest on top."""
    cells = waves.assign(left=waves["offset"] - 0.5, right=waves["offset"] + 0.5)
    x = _offsets(domain, titled=False)
    x.shorthand = "left:Q"
    top = float(cells["correlation"].abs().max()) or 1.0
    title = say("positions_head.correlations.correlation")
    bend = [-top, -top / 4, 0, top / 4, top]
    chart = (
        alt.Chart(cells)
        .mark_rect()
        .encode(
            x=x,
            x2="right",
            y=alt.Y(
                "rank:O",
                title=say("positions_head.correlations.direction"),
                axis=alt.Axis(values=[1, 5, 10, 15, 20]),
            ),
            color=alt.Color(
                "correlation:Q",
                title="xcorr",
                scale=alt.Scale(domain=bend, range=list(LESS_TO_MORE), interpolate="rgb"),
                legend=alt.Legend(format=".2~f", gradientLength=150),
            ),
            tooltip=[
                alt.Tooltip("rank:O", title=say("positions_head.correlations.direction")),
                alt.Tooltip("value:Q", title=say("positions_head.singular_value"), format=".2f"),
                alt.Tooltip("offset:Q", title=say("positions_head.offset"), format="+d"),
                alt.Tooltip("correlation:Q", title=title, format=".3f"),
            ],
        )
    )
    height = _ROW * waves["rank"].nunique()
    return chart.properties(title=_heading("directions"), width=_WIDTH, height=height)


def _curve(sums: pd.DataFrame, value: str, colour: str, peak: int, *, x: alt.X) -> Any:
    """A line over offsets with its greatest value within the window marked."""
    y = alt.Y(f"{value}:Q", title=None, scale=alt.Scale(zero=False), axis=_numbers())
    base = alt.Chart(sums).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("offset:Q", title=say("positions_head.offset"), format="+d"),
            alt.Tooltip(f"{value}:Q", title=_title(value), format=".4~g"),
        ],
    )
    line = base.mark_line(color=colour, point={"size": 18, "filled": True, "color": colour})
    at = sums[sums["offset"] == peak].assign(label=f"t = {offset_told(peak)}")
    marked = alt.Chart(at).encode(x=x)
    rule = marked.mark_rule(color=PEAK_COLOUR, strokeWidth=2, strokeDash=[6, 4])
    label = marked.mark_text(color=PEAK_COLOUR, fontSize=12, fontWeight="bold").encode(
        y=alt.value(-8), text="label:N"
    )
    chart = alt.layer(rule, line, label)
    return chart.properties(title=_heading(value), width=_WIDTH, height=_CURVE)


def _numbers() -> alt.Axis:
    return alt.Axis(format=".3~s", tickCount=4, minExtent=36)


def _heading(name: str) -> alt.Title:
    return alt.Title(_title(name), anchor="start", frame="group", offset=14)


def _title(name: str) -> str:
    return say(f"positions_head.correlations.title_{name}")
