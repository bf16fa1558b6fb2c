"""Amplitudes over frequencies, with the periods in tokens written above them."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.positions.peaks import UNIT
from pages.ui.charts.look import Scale, coloured, tooltips
from pages.ui.words.say import say

WIDTH = 700
"""Of panels below each other, with room for a legend beside them."""
_PERIODS = [256, 64, 32, 16, 10, 8, 6, 5, 4, 3, 2]


def with_period(frame: pd.DataFrame) -> pd.DataFrame:
    """Without frequency 0, which is no wave, and with the period of every other in tokens."""
    frame = frame[frame["frequency"] > 0]
    return frame.assign(period=UNIT / frame["frequency"])


def frequencies(domain: tuple[float, float], *, title: bool = True) -> alt.X:
    """The axis of frequencies; of panels below each other only the last needs its title."""
    return alt.X(
        "frequency:Q",
        title=say("positions.frequency") if title else None,
        scale=alt.Scale(domain=list(domain), nice=False),
        axis=alt.Axis(format="d", labelAngle=0, tickCount=10),
    )


def with_periods(chart: Any, domain: tuple[float, float]) -> Any:
    """The chart with a second axis above it, that says how many tokens a wave takes."""
    shown = [each for each in _PERIODS if domain[0] <= UNIT / each <= domain[1]]
    axis = alt.Axis(
        orient="top",
        values=[UNIT / each for each in shown],
        labelExpr=f"format({UNIT} / datum.value, 'd')",
        grid=False,
        labelAngle=0,
        labelOverlap="greedy",
        titlePadding=6,
    )
    ends = pd.DataFrame({"frequency": list(domain)})
    scale = alt.Scale(domain=list(domain), nice=False)
    x = alt.X("frequency:Q", title=say("positions.period_axis"), scale=scale, axis=axis)
    axis_alone = alt.Chart(ends).mark_point(opacity=0, size=0).encode(x=x)
    return alt.layer(chart, axis_alone).resolve_axis(x="independent")


def span(frame: pd.DataFrame) -> tuple[float, float]:
    """From the lowest to the highest frequency; around a single one."""
    low, high = float(frame["frequency"].min()), float(frame["frequency"].max())
    return (low, high) if low < high else (low / 2, high * 2)


def spectrum_lines(
    frame: pd.DataFrame,
    *,
    colour: str,
    colours: Mapping[str, str] | None,
    y_title: str,
    y_scale: Scale,
    band: str | None = None,
    above: bool = True,
    below: bool = True,
    height: int = 430,
) -> Any:
    """One line of `mean` over `frequency` for every name in the colour column.

    Args:
        frame: frequency, period, mean, q25, q75 and the colour column.
        colours: of its names, in the order of the legend.
        band: the name whose quartiles are drawn as a band.
        above: whether periods are written above the lines.
        below: whether the axis of frequencies has its title.
    """
    frame, encoding, _ = coloured(frame, colour, " ", colours)
    domain = span(frame)
    x = frequencies(domain, title=below)
    scale = alt.Scale(type="log", nice=False) if y_scale == "log" else alt.Scale(zero=True)
    told: dict[str | None, str | None] = {
        colour: say("positions.what"),
        "frequency": say("positions.frequency"),
        "period": say("positions.period"),
        "mean": y_title,
        "q25": say("positions.q25"),
        "q75": say("positions.q75"),
    }
    present = {name: title for name, title in told.items() if name in frame}
    y = alt.Y("mean:Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=5, format=".3~g"))
    base = alt.Chart(frame).encode(x=x, color=encoding, tooltip=tooltips(present, frame, ".3~g"))
    parts = [base.mark_line(strokeWidth=1.6).encode(y=y), _hits(base, y)]
    if band is not None:
        shown = alt.Chart(frame[frame[colour] == band]).mark_area(opacity=0.22, clip=True)
        low = alt.Y("q25:Q", title=y_title, scale=scale)
        parts.insert(0, shown.encode(x=x, y=low, y2="q75", color=encoding))
    lines = alt.layer(*parts)
    drawn = with_periods(lines, domain) if above else lines
    return drawn.properties(height=height)


def _hits(base: Any, y: alt.Y) -> Any:
    """Points that are not seen but tell their numbers where the pointer comes near."""
    return base.mark_point(size=60, opacity=0, filled=True).encode(y=y)
