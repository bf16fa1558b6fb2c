"""Frequencies across, phases up, amplitude as colour, and lines of constant shift."""

import math
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.words.offsets import PEAK_COLOUR, offset_told
from pages.ui.words.say import say

UNIT = 512
"""Tokens that frequencies are counted in: cycles per 512 tokens."""
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


def phase_chart(cells: pd.DataFrame, measure: str, *, shifts: range, highest: float) -> Any:
    """The chart.

    Args:
        cells: rows x, x2, y, y2, frequency, value, planes.
        measure: `relative` or `amplitude`, which is drawn on a log scale.
        shifts: in tokens, of the lines.
        highest: frequency, where the axis ends.
    """
    end = max(float(highest), float(cells["x2"].max()))
    x = alt.X(
        "x:Q",
        title=say("positions_head.phases.frequency"),
        scale=alt.Scale(domain=[0, end * _BESIDE], nice=False),
        axis=alt.Axis(values=list(range(0, int(end) + 1, int(highest / 8))), grid=False),
    )
    y = alt.Y(
        "y:Q",
        title=say("positions_head.phases.phase"),
        scale=alt.Scale(domain=[-math.pi - _MARGIN, math.pi + _MARGIN], nice=False),
        axis=alt.Axis(
            values=[-math.pi, -math.pi / 2, 0, math.pi / 2, math.pi],
            labelExpr=_PHASES,
            grid=False,
        ),
    )
    marks = (
        alt.Chart(cells)
        .mark_rect()
        .encode(
            x=x,
            x2="x2",
            y=y,
            y2="y2",
            color=_colour(cells["value"], measure),
            tooltip=[
                alt.Tooltip(
                    "frequency:Q", title=say("positions_head.phases.frequency"), format=".0f"
                ),
                alt.Tooltip("y:Q", title=say("positions_head.phases.from"), format=".2f"),
                alt.Tooltip("y2:Q", title=say("positions_head.phases.to"), format=".2f"),
                alt.Tooltip("value:Q", title=_title(measure), format=".3~g"),
                alt.Tooltip("planes:Q", title=say("positions_head.phases.planes"), format="d"),
            ],
        )
    )
    return alt.layer(marks, *_lines(shifts, end, x, y)).properties(height=460)


def _title(measure: str) -> str:
    return say(f"positions_head.phases.title_{measure}")


def _colour(values: pd.Series, measure: str) -> alt.Color:
    """Colours that end where nearly all cells do, so that a few do not darken the others."""
    top = float(values.quantile(_QUANTILE)) or 1.0
    if measure == "relative":
        scale = alt.Scale(type="linear", scheme="viridis", domain=[0, max(top, 1.0)], clamp=True)
    else:
        positive = values[values > 0]
        low = float(positive.quantile(0.02)) if len(positive) else top / 100
        domain = [min(low, top / 10), top]
        scale = alt.Scale(type="log", scheme="viridis", domain=domain, clamp=True)
    legend = alt.Legend(format=".2~g", gradientLength=200, orient="right")
    return alt.Color("value:Q", title=_title(measure), scale=scale, legend=legend)


def _lines(shifts: range, highest: float, x: alt.X, y: alt.Y) -> list[Any]:
    """θ = 2π f Δ / 512 as long as it is a phase, with Δ written at its end."""
    ends = {shift: min(highest, UNIT / 2 / max(abs(shift), 1)) for shift in shifts}
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
    lines = base.mark_line(color=PEAK_COLOUR, strokeWidth=1.6, strokeDash=[6, 4], tooltip=False)
    text = {"color": PEAK_COLOUR, "fontSize": 12, "fontWeight": "bold"}
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
