"""Small chart of a finding's evidence: the result and its baseline, with intervals."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, layered, tooltips
from pages.charts.colours import NEUTRAL, SERIES_COLOURS, ZERO
from pages.kit.found import Found

_ROW, _MOST, _AXIS = 32, 54, 48  # pixels
_SHOWN = ("name", "value", "low", "high")  # in tooltips


def evidence_chart(finding: Found, *, height: int) -> Any:
    """Draw a dot per row of a finding's evidence.

    Args:
        height: of the marks, in pixels; rows that do not fit are left out.
    """
    rules = []
    if isinstance(finding.baseline, float):
        at = Chart(alt.InlineData(values=[{"level": finding.baseline}]))
        rules = [at.mark_rule(color=ZERO, strokeDash=[4, 3]).encode(x=alt.X("level:Q"))]
    axis = alt.Axis(format=finding.format, tickCount=3, labelSeparation=8)
    frame = finding.evidence.head(height // _ROW)
    row = min(height // max(len(frame), 1), _MOST)
    return layered(*rules, *_dots(frame, axis, finding.format), height=row * len(frame) + _AXIS)


def _dots(frame: pd.DataFrame, axis: alt.Axis, form: str) -> list[Any]:
    """Draw a dot with its interval per row, the first one in colour, each under its name."""
    order = frame["name"].tolist()
    is_first = alt.datum["name"] == order[0]
    rows = Chart(frame).encode(y=alt.Y("name:N", title=None, sort=order, axis=None))
    base = rows.encode(
        color=alt.ColorValue(
            **alt.condition(is_first, alt.value(SERIES_COLOURS[0]), alt.value(NEUTRAL))
        ),
        tooltip=tooltips(dict.fromkeys(_SHOWN), frame, form),
    )
    dots = base.mark_circle(size=90, opacity=1, yOffset=6)
    intervals = base.mark_rule(strokeWidth=2, yOffset=6)
    width = alt.ExprRef("width")
    names = rows.mark_text(align="left", baseline="bottom", dy=-1, fontSize=12, limit=width)
    drawn = [
        dots.encode(x=alt.X("value:Q", title=None, axis=axis)),
        names.encode(x=alt.XValue(4), text=alt.Text("name:N")),
    ]
    if frame["low"].isna().all():
        return drawn
    return [intervals.encode(x=alt.X("low:Q", title=None, axis=axis), x2=alt.X2("high")), *drawn]
