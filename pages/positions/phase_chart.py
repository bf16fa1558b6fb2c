"""Frequencies across, phases up, amplitude as colour, and lines of constant shift."""

import math
from typing import Any

import altair as alt
import pandas as pd

from pages.positions.spectra.peaks import UNIT
from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import column_tooltips, ramp
from pages.ui.words.columns import title
from pages.ui.words.offsets import offset_told

_SHIFTS = range(-3, 4)
_MARGIN = 0.45  # above and below the phases, for the names of lines
_BESIDE = 1.08  # of the frequencies, so that there is room for names at the right
_QUANTILE = 0.998
_PLACES = {
    "right": {"align": "left", "dx": 5},
    "above": {"align": "right", "dy": -9},
    "below": {"align": "right", "dy": 11},
}
_PHASES = (
    "datum.value == 0 ? '0' : abs(datum.value) > 3 ? (datum.value > 0 ? 'π' : '−π') : "
    "(datum.value > 0 ? 'π/2' : '−π/2')"
)


def phase_chart(cells: pd.DataFrame, measure: str, *, highest: float) -> Any:
    """The chart.

    Args:
        cells: rows x, x2, y, y2, frequency, planes and `measure`.
        measure: `relative` or `amplitude`, which is drawn on a log scale.
        highest: frequency, where the axis ends.
    """
    end = max(float(highest), float(cells["x2"].max()))
    x = alt.X(
        "x:Q",
        title=title("frequency"),
        scale=alt.Scale(domain=[0, end * _BESIDE], nice=False),
        axis=alt.Axis(values=list(range(0, int(end) + 1, int(highest / 8))), grid=False),
    )
    quarters = [-math.pi, -math.pi / 2, 0, math.pi / 2, math.pi]
    y = alt.Y(
        "y:Q",
        title=title("phase"),
        scale=alt.Scale(domain=[-math.pi - _MARGIN, math.pi + _MARGIN], nice=False),
        axis=alt.Axis(values=quarters, labelExpr=_PHASES, grid=False),
    )
    told = {"frequency": ".0f", "y": ".2f", "y2": ".2f", measure: ".3~g", "planes": "d"}
    scale = _scale(cells[measure], measure)
    marks = alt.Chart(cells).mark_rect()
    marks = marks.encode(
        x=x,
        x2="x2",
        y=y,
        y2="y2",
        color=alt.Color(f"{measure}:Q", title=title(measure), scale=scale, legend=ramp(".2~g")),
        tooltip=column_tooltips(cells, **told),
    )
    return alt.layer(marks, *_lines(end, x, y)).properties(height=460)


def _scale(values: pd.Series, measure: str) -> alt.Scale:
    """Colours that end where nearly all cells do, so that a few do not darken the others."""
    top = float(values.quantile(_QUANTILE)) or 1.0
    if measure == "relative":
        return alt.Scale(type="linear", scheme="viridis", domain=[0, max(top, 1.0)], clamp=True)
    positive = values[values > 0]
    low = float(positive.quantile(0.02)) if len(positive) else top / 100
    return alt.Scale(type="log", scheme="viridis", domain=[min(low, top / 10), top], clamp=True)


def _lines(highest: float, x: alt.X, y: alt.Y) -> list[Any]:
    """θ = 2π f Δ / 512 as long as it is a phase, with Δ written at its end."""
    ends = {shift: min(highest, UNIT / 2 / max(abs(shift), 1)) for shift in _SHIFTS}
    frame = pd.DataFrame(
        [
            {
                "x": f,
                "y": 2 * math.pi * f * shift / UNIT,
                "shift": shift,
                "label": f"Δ = {offset_told(shift)}",
                "place": _place(shift, end, highest) if f == end else "",
            }
            for shift, end in ends.items()
            for f in (0.0, end)
        ]
    )
    base = alt.Chart(frame).encode(x=x, y=y)
    lines = base.mark_line(color=MARKED, strokeWidth=1.6, strokeDash=[6, 4], tooltip=False)
    text = {"color": MARKED, "fontSize": 12, "fontWeight": "bold"}
    labels = [
        base.transform_filter(alt.datum["place"] == place)
        .encode(text="label:N")
        .mark_text(**text, **where)
        for place, where in _PLACES.items()
    ]
    return [lines.encode(detail="shift:N"), *labels]


def _place(shift: int, end: float, highest: float) -> str:
    """Where a line leaves the phases: at the right, above or below."""
    if 2 * abs(shift) * end < UNIT:
        return "right" if end == highest else ""
    return "above" if shift > 0 else "below"
