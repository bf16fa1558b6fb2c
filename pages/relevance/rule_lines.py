"""Lines of rules and methods: a quantity by start layer, or a probability by share of patches."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.relevance_rules import MEAN_WEIGHTS
from analysis.statistics.relevance.perturbation import RANDOM
from pages.relevance.quantities import axis_format, number_format, quantity_axis
from pages.relevance.rules import rule_name
from pages.ui.charts.chart_theme import Chart, layered, tooltips
from pages.ui.charts.colours import NEUTRAL, RELEVANCE_RULE_COLOURS
from pages.ui.charts.encodings import named
from pages.ui.words.columns import title

_DASHED = (*MEAN_WEIGHTS, RANDOM)
_SOLID = [1, 0]


def rule_lines(
    frame: pd.DataFrame, *, rules: Sequence[str], x: alt.X, y: Mapping[str, Any], format: str
) -> list[Any]:
    """A line per rule, with a band from low to high where there are intervals.

    A rule with one value alone has a bar from low to high, where a band would have no width.

    Args:
        frame: rows name, mean, low and high if there are intervals, and the column of x.
        rules: those that are drawn, in the order of the legend.
        y: title, axis and scale, as Altair takes them.
    """
    field, is_band = str(x.shorthand).partition(":")[0], "low" in frame
    columns = ("name", field, "mean", *(("low", "high") if is_band else ()))
    titles = dict.fromkeys(columns) | {"mean": y["title"]}
    base = Chart(frame).encode(x=x, **_encodings(rules))
    height = alt.Y("mean:Q", **y)
    line = base.mark_line(strokeWidth=2.2).encode(y=height)
    points = base.mark_circle(size=45, opacity=1).encode(
        y=height, strokeDash=alt.StrokeDashValue(_SOLID), tooltip=tooltips(titles, frame, format)
    )
    if not is_band:
        return [line, points]
    ends = {"y": alt.Y("low:Q", **y), "y2": alt.Y2("high")}
    band = base.mark_area(opacity=0.15, aria=False, strokeWidth=0).encode(**ends)
    alone = frame[frame.groupby("name")["mean"].transform("size") == 1]
    bars = base.properties(data=alone).mark_rule(strokeWidth=3, opacity=0.45)
    bars = bars.encode(**ends, strokeDash=alt.StrokeDashValue(_SOLID))
    return [band, *([bars] if len(alone) else []), line, points]


def layer_lines(
    frame: pd.DataFrame,
    *,
    rules: Sequence[str],
    quantity: str,
    level: tuple[str, float] | None = None,
) -> Any:
    """Means of a quantity over start layers with bands from low to high.

    Args:
        frame: rows name, layer, mean, low, high.
        level: the name and the height of what to compare with.
    """
    layers = sorted(int(layer) for layer in frame["layer"].unique())
    x = alt.X(
        "layer:Q",
        title=title("layer"),
        scale=alt.Scale(domain=[layers[0] - 0.3, layers[-1] + 0.3], nice=False, zero=False),
        axis=alt.Axis(values=layers, format="d", labelAngle=0, grid=False),
    )
    axis = alt.Axis(format=axis_format(quantity), tickCount=6)
    scale = alt.Scale(zero=False, nice=True)
    y = {"title": quantity_axis(quantity), "axis": axis, "scale": scale}
    parts = rule_lines(frame, rules=rules, x=x, y=y, format=number_format(quantity))
    if level:
        parts += _level(*level, at=layers[-1], axis=axis)
    return layered(*parts, height=380)


def _encodings(rules: Sequence[str]) -> dict[str, Any]:
    """Colour and dashes of rules by the column `name`, with one legend for both."""
    colours = {rule_name(rule): RELEVANCE_RULE_COLOURS[rule] for rule in rules}
    dashes = {rule_name(rule): [5, 3] if rule in _DASHED else _SOLID for rule in rules}
    stroke: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 260}
    legend = {**stroke, "symbolOpacity": 1, "columns": 6}
    return {
        "color": named("name", colours, **legend),
        "strokeDash": named("name", dashes, alt.StrokeDash, **legend),
    }


def _level(name: str, height: float, *, at: int, axis: alt.Axis) -> list[Any]:
    """Draw a dashed horizontal line with its name at the right end."""
    frame = pd.DataFrame({"height": [height], "name": [name], "layer": [at + 0.28]})
    base = Chart(frame).encode(y=alt.Y("height:Q", axis=axis))
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[2, 3], strokeWidth=1.6)
    label = base.mark_text(align="right", baseline="bottom", dy=-3, fontSize=12)
    return [rule, label.encode(x=alt.X("layer:Q"), text=alt.Text("name:N"))]
