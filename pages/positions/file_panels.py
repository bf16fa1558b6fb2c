"""Spectra of several files below each other, each with a scale of its own."""

from typing import Any

import altair as alt
import pandas as pd

from pages.positions.spectrum_chart import WIDTH, frequencies, span, with_periods
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.words.say import say


def file_panels(frame: pd.DataFrame, scale: str, y_title: str) -> Any:
    """One panel for every name in the column `file`, over the same frequencies.

    Args:
        frame: file, frequency, period, mean, and q25 and q75 where a band is to be drawn.
        scale: of amplitudes, `linear` or `log`.
    """
    domain = span(frame)
    shown = list(dict.fromkeys(frame["file"]))
    parts = []
    for label, colour in zip(shown, SERIES_COLOURS, strict=False):
        x = frequencies(domain, title=label == shown[-1])
        y = alt.Y(
            "mean:Q",
            title=y_title,
            scale=alt.Scale(type="log", nice=False) if scale == "log" else alt.Scale(zero=True),
            axis=alt.Axis(tickCount=4, format=".3~g"),
        )
        panel = _panel(frame[frame["file"] == label], x, y, colour)
        panel = with_periods(panel, domain) if label == shown[0] else panel
        parts.append(panel.properties(title=label, height=130, width=WIDTH))
    return alt.concat(*parts, columns=1, spacing=18)


def _panel(frame: pd.DataFrame, x: alt.X, y: alt.Y, colour: str) -> Any:
    base = alt.Chart(frame).encode(
        x=x,
        tooltip=[
            alt.Tooltip("frequency:Q", title=say("positions.frequency"), format=".3~g"),
            alt.Tooltip("period:Q", title=say("positions.period"), format=".3~g"),
            alt.Tooltip("mean:Q", title=str(y.title), format=".3~g"),
        ],
    )
    line = base.mark_line(color=colour, strokeWidth=1.6).encode(y=y)
    hits = base.mark_point(size=60, opacity=0, filled=True).encode(y=y)
    if "q25" not in frame:
        return alt.layer(line, hits)
    low = y.copy()
    low.shorthand = "q25:Q"
    band = base.mark_area(color=colour, opacity=0.22).encode(y=low, y2="q75")
    return alt.layer(band, line, hits)
