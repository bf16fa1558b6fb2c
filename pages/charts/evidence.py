"""Small chart of a finding's evidence: the result and its baseline, with intervals."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, coloured, layered, tooltips
from pages.charts.colours import NEUTRAL, SERIES_COLOURS, ZERO
from pages.kit.finding import Finding
from pages.words.say import say

_ROW, _MOST, _AXIS, _LEGEND = 32, 54, 48, 22  # pixels
_SHOWN = ("name", "value", "low", "high")  # in tooltips


def evidence_chart(finding: Finding, *, height: int) -> Any:
    """Draw lines over layers if there are rows by layer, or else a dot per row.

    Args:
        height: of the marks, in pixels; rows that do not fit are left out.
    """
    frame = finding.evidence
    across = "layer" in frame
    rules = []
    if isinstance(finding.baseline, float):
        at = Chart(alt.InlineData(values=[{"level": finding.baseline}]))
        rule = at.mark_rule(color=ZERO, strokeDash=[4, 3])
        rules = [rule.encode(y=alt.Y("level:Q")) if across else rule.encode(x=alt.X("level:Q"))]
    axis = alt.Axis(format=finding.format, tickCount=3, labelSeparation=8)
    if across:
        parts = [*rules, *_lines(frame, axis, finding.format)]
        legend = _LEGEND * frame["name"].nunique() if frame["name"].nunique() > 1 else 0
        return layered(*parts, height=height + _AXIS + legend)
    frame = frame.head(height // _ROW)
    parts = [*rules, *_dots(frame, axis, finding.format)]
    row = min(height // max(len(frame), 1), _MOST)
    return layered(*parts, height=row * len(frame) + _AXIS)


def _lines(frame: pd.DataFrame, axis: alt.Axis, form: str) -> list[Any]:
    """Draw a line with its band per name."""
    frame, colour, names = coloured(frame, "name", None)
    if len(names) == 1:
        colour = alt.ColorValue(SERIES_COLOURS[0])
    else:
        colour.legend = alt.Legend(
            orient="top",
            title=None,
            columns=1,
            offset=2,
            rowPadding=4,
            symbolType="stroke",
            symbolStrokeWidth=2,
            symbolOpacity=1,
        )
    x = alt.X(
        "layer:Q",
        title=say("axis.layer"),
        axis=alt.Axis(tickMinStep=1, format="d", titlePadding=2),
        scale=alt.Scale(zero=False, nice=False),
    )
    tooltip = tooltips(dict.fromkeys(_SHOWN), frame, form)
    base = Chart(frame).encode(x=x, color=colour, tooltip=tooltip)
    height: dict[str, Any] = {"title": None, "axis": axis, "scale": alt.Scale(zero=len(names) > 1)}
    band = base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", **height), y2=alt.Y2("high"))
    line = base.mark_line().encode(y=alt.Y("value:Q", **height))
    return [band, line] if frame["low"].notna().any() else [line]


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
