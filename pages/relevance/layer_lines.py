"""A quantity of maps by the layer behind which relevance starts, a line per rule."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.relevance.rules import DASHED, RULE_COLOURS, rule_name
from pages.ui.charts.look import tooltips
from pages.ui.words.say import say

_DASHES = [5, 3]
_GROUND = "#808080"


def rule_encodings(rules: Sequence[str]) -> dict[str, Any]:
    """Colour and dashes of rules by the column `name`, with one legend for both.

    Args:
        rules: those that are drawn, in the order of the legend.
    """
    names = [rule_name(each) for each in rules]
    legend = alt.Legend(
        orient="top",
        symbolType="stroke",
        symbolOpacity=1,
        symbolStrokeWidth=3,
        symbolSize=260,
        labelLimit=0,
        columns=6,
    )
    dashes = [_DASHES if each in DASHED else [1, 0] for each in rules]
    colours = [RULE_COLOURS[each] for each in rules]
    return {
        "color": alt.Color(
            "name:N", title=" ", scale=alt.Scale(domain=names, range=colours), legend=legend
        ),
        "strokeDash": alt.StrokeDash(
            "name:N", title=" ", scale=alt.Scale(domain=names, range=dashes), legend=legend
        ),
    }


def layer_lines(
    frame: pd.DataFrame,
    *,
    rules: Sequence[str],
    y_title: str,
    format: str,
    y_format: str,
    reference: tuple[str, float] | None = None,
) -> Any:
    """Means over start layers with bands from low to high.

    Args:
        frame: rows rule, name, layer, mean, low, high.
        reference: the name and the height of a level to compare with.
    """
    layers = sorted(int(each) for each in frame["layer"].unique())
    x = alt.X(
        "layer:Q",
        title=say("relevance_corpus.start_layer"),
        scale=alt.Scale(domain=[layers[0] - 0.3, layers[-1] + 0.3], nice=False, zero=False),
        axis=alt.Axis(values=layers, format="d", labelAngle=0, grid=False),
    )
    axis = alt.Axis(format=y_format, tickCount=6)
    scale = alt.Scale(zero=False, nice=True)
    base = alt.Chart(frame).encode(x=x, **rule_encodings(rules))
    told: dict[str | None, str | None] = {
        "name": say("relevance_corpus.rule"),
        "layer": say("relevance_corpus.start_layer"),
        "mean": y_title,
        "low": say("relevance_corpus.low"),
        "high": say("relevance_corpus.high"),
    }
    height = alt.Y("mean:Q", title=y_title, axis=axis, scale=scale)
    band = base.mark_area(opacity=0.18, aria=False, strokeWidth=0).encode(
        y=alt.Y("low:Q", title=y_title, axis=axis, scale=scale), y2=alt.Y2("high")
    )
    line = base.mark_line(strokeWidth=2.2).encode(y=height)
    points = base.mark_circle(size=55, opacity=1).encode(
        y=height, strokeDash=alt.value([1, 0]), tooltip=tooltips(told, frame, format)
    )
    parts = [band, *_intervals_of_points(frame, base, axis=axis), line, points]
    if reference:
        parts.extend(_level(*reference, at=layers[-1], format=y_format))
    return alt.layer(*parts).properties(height=380)


def _intervals_of_points(frame: pd.DataFrame, base: alt.Chart, *, axis: alt.Axis) -> list[Any]:
    """Intervals of what starts behind one layer alone, where a band would have no width."""
    alone = frame.groupby("rule")["layer"].transform("size") == 1
    if not alone.any():
        return []
    rules = base.properties(data=frame[alone]).mark_rule(strokeWidth=3, opacity=0.45)
    ends = {"y": alt.Y("low:Q", axis=axis), "y2": alt.Y2("high")}
    return [rules.encode(**ends, strokeDash=alt.value([1, 0]))]


def _level(name: str, height: float, *, at: int, format: str) -> list[Any]:
    """A dashed level across the chart with its name at the right end."""
    frame = pd.DataFrame({"height": [height], "name": [name], "layer": [at + 0.28]})
    base = alt.Chart(frame).encode(y=alt.Y("height:Q", axis=alt.Axis(format=format)))
    rule = base.mark_rule(color=_GROUND, strokeDash=[2, 3], strokeWidth=1.6)
    label = base.mark_text(align="right", baseline="bottom", dy=-3, fontSize=12, color=_GROUND)
    return [rule, label.encode(x="layer:Q", text="name:N")]
