"""Layers over frequencies as maps: hidden states above queries above keys, on one scale."""

from typing import Any

import altair as alt
import pandas as pd

from pages.positions.spectra import SOURCES, source_name
from pages.positions.spectrum_chart import WIDTH, frequencies, with_periods
from pages.ui.charts.look import ramp
from pages.ui.words.say import say

_CELL = 18
_WIDEST = 64.0  # times more or less, at which the scale of ratios ends


def amplitude_maps(frame: pd.DataFrame) -> Any:
    """Amplitudes on one logarithmic scale of colours."""
    shown = frame[frame["amplitude"] > 0]
    scale = alt.Scale(type="log", scheme="viridis")
    return _maps(shown, "amplitude", say("positions.amplitude"), scale)


def ratio_maps(frame: pd.DataFrame) -> Any:
    """How many times the amplitude without positions; 1, no difference, is the pale middle."""
    ratio = frame["ratio"]
    widest = min(max(float(ratio.max()), 1 / float(ratio.min()), 2.0), _WIDEST)
    low, middle = "#2166ac", "#f3f1ea"
    scale = alt.Scale(
        type="log",
        domain=[1 / widest, widest**-0.5, 1, widest**0.5, widest],
        range=[low, "#67a9cf", middle, "#ef8a62", "#b2182b"],
        interpolate="rgb",
        clamp=True,
    )
    return _maps(frame, "ratio", say("positions.states.ratio"), scale)


def _maps(frame: pd.DataFrame, value: str, title: str, scale: alt.Scale) -> Any:
    """One map per source; every cell as wide as the step from one frequency to the next."""
    step = float(frame["frequency"].min())
    frame = frame.assign(
        left=frame["frequency"] - step / 2,
        right=frame["frequency"] + step / 2,
        name=frame["source"].map(source_name),
    )
    domain = (float(frame["left"].min()), float(frame["right"].max()))
    present = [each for each in SOURCES if (frame["source"] == each).any()]
    parts = []
    for each in present:
        shown = frame[frame["source"] == each]
        x = frequencies(domain, title=each == present[-1])
        cells = _cells(shown, x, value=value, title=title, scale=scale)
        drawn = with_periods(cells, domain) if each == present[0] else cells
        height = _CELL * max(shown["layer"].nunique(), 2)
        parts.append(drawn.properties(title=source_name(each), height=height, width=WIDTH))
    return alt.concat(*parts, columns=1, spacing=16).resolve_scale(color="shared")


def _cells(frame: pd.DataFrame, x: alt.X, *, value: str, title: str, scale: alt.Scale) -> Any:
    x.shorthand = "left:Q"
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=x,
            x2="right",
            y=alt.Y("layer:O", title=say("axis.layer"), axis=alt.Axis(labelOverlap=False)),
            color=alt.Color(f"{value}:Q", title=title, scale=scale, legend=_legend(scale)),
            tooltip=[
                alt.Tooltip("name:N", title=say("positions.what")),
                alt.Tooltip("layer:O", title=say("axis.layer")),
                alt.Tooltip("frequency:Q", title=say("positions.frequency"), format=".3~g"),
                alt.Tooltip("period:Q", title=say("positions.period"), format=".3~g"),
                alt.Tooltip(f"{value}:Q", title=title, format=".3~g"),
            ],
        )
    )


def _legend(scale: alt.Scale) -> alt.Legend:
    """With a number at each colour that the scale names."""
    legend = ramp(".2~g")
    stops = scale.to_dict().get("domain")
    if isinstance(stops, list):
        legend.values = stops
    return legend
