"""Layer by layer: the mean over heads as a line with its interval, and every head as a point."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.look import cell_selection
from pages.ui.words.say import say

HEAD = "head"
"""Name of the selection; what is clicked has fields layer and head."""
_RING = "#ff5a36"
_SPREAD = 0.34  # of a layer over which the points of its series are spread, so that they are seen


def layer_chart(
    means: pd.DataFrame,
    heads: pd.DataFrame,
    *,
    colours: dict[str, str],
    y_title: str,
    marked: tuple[int, int] | None = None,
    dashed: str | None = None,
    format: str = ".3f",
    y_format: str = "~g",
    y_scale: str = "linear",
) -> Any:
    """Lines of means over layers, under points of single heads.

    Args:
        means: rows layer, name, mean and perhaps low, high.
        heads: rows layer, head, name, mean.
        colours: of the names, in the order of the legend.
        marked: layer and head of the points that get a ring.
        dashed: the name whose line is a reference: dashed, without points.
    """
    layers = sorted(int(each) for each in means["layer"].unique())
    drawn = _Series(
        layers, colours, y_title=y_title, y_format=y_format, y_scale=y_scale, format=format
    )
    solid = means[means["name"] != dashed]
    parts = [drawn.lines(solid)]
    if {"low", "high"} <= set(solid):
        parts.insert(0, drawn.band(solid))
    if dashed is not None and (means["name"] == dashed).any():
        parts.append(drawn.lines(means[means["name"] == dashed], dash=True))
    if len(heads):
        spread = _spread(heads, list(colours))
        parts.append(drawn.points(spread))
        if marked:
            parts.append(drawn.rings(spread, marked))
    return alt.layer(*parts).properties(height=380)


class _Series:
    """What all marks of a chart share: axes and colours."""

    def __init__(
        self,
        layers: list[int],
        colours: dict[str, str],
        *,
        y_title: str,
        y_format: str,
        y_scale: str,
        format: str,
    ):
        self.y_title, self.format = y_title, format
        self.x = alt.X(
            "x:Q",
            title=say("axis.layer"),
            scale=alt.Scale(domain=[layers[0] - 0.5, layers[-1] + 0.5], nice=False, zero=False),
            axis=alt.Axis(values=layers, format="d", labelAngle=0, grid=False),
        )
        self.scale = alt.Scale(type=y_scale)  # pyright: ignore[reportArgumentType]
        self.y_axis = alt.Axis(format=y_format, tickCount=6)
        self.colour = alt.Color(
            "name:N",
            title=" ",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=alt.Legend(orient="top", symbolType="square", symbolOpacity=1, labelLimit=0),
        )

    def y(self, field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=self.y_title, scale=self.scale, axis=self.y_axis)

    def _base(self, frame: pd.DataFrame) -> alt.Chart:
        frame = frame if "x" in frame else frame.assign(x=frame["layer"])
        return alt.Chart(frame).encode(x=self.x, color=self.colour)

    def _told(self, frame: pd.DataFrame) -> list[alt.Tooltip]:
        counted = [each for each in ("layer", "head") if each in frame]
        values = {
            "mean": self.y_title,
            "low": say("head_habits.low"),
            "high": say("head_habits.high"),
        }
        return [
            *(alt.Tooltip(f"{each}:Q", title=say(f"axis.{each}"), format="d") for each in counted),
            alt.Tooltip("name:N", title=say("head_habits.attention_to")),
            *(
                alt.Tooltip(f"{each}:Q", title=title, format=self.format)
                for each, title in values.items()
                if each in frame
            ),
        ]

    def lines(self, frame: pd.DataFrame, *, dash: bool = False) -> alt.Chart:
        style: dict[str, Any] = {"strokeDash": [6, 4]} if dash else {"strokeWidth": 2.5}
        point = False if dash else {"size": 50, "filled": True}
        told = self._told(frame)
        return (
            self._base(frame).mark_line(point=point, **style).encode(y=self.y("mean"), tooltip=told)
        )

    def band(self, frame: pd.DataFrame) -> alt.Chart:
        area = self._base(frame).mark_area(opacity=0.2, aria=False)
        return area.encode(y=self.y("low"), y2=alt.Y2("high"))

    def points(self, frame: pd.DataFrame) -> alt.Chart:
        circles = self._base(frame).mark_circle(size=46, opacity=0.6, cursor="pointer")
        marks = circles.encode(y=self.y("mean"), tooltip=self._told(frame))
        return marks.add_params(cell_selection(HEAD, "layer", "head"))

    def rings(self, frame: pd.DataFrame, marked: tuple[int, int]) -> alt.Chart:
        chosen = frame[(frame["layer"] == marked[0]) & (frame["head"] == marked[1])]
        rings = alt.Chart(chosen).mark_point(
            size=110, stroke=_RING, strokeWidth=2.5, filled=False, aria=False
        )
        return rings.encode(x=self.x, y=self.y("mean"))


def _spread(heads: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The points of each name a little beside those of the others."""
    present = [each for each in names if (heads["name"] == each).any()]
    middle, step = (len(present) - 1) / 2, _SPREAD / max(len(present) - 1, 1)
    shift = {name: (at - middle) * step for at, name in enumerate(present)}
    return heads.assign(x=heads["layer"] + heads["name"].map(shift))
