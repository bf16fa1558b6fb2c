"""Kinds of charts of bars, lines and points; types are explicit: an export infers none."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    IN_TWO_LINES,
    Chart,
    Scale,
    across,
    cell_selection,
    coloured,
    edged,
    flat_axis,
    layered,
    tooltips,
    with_axes,
)
from pages.charts.colours import MARKED
from pages.charts.encodings import of_layers
from pages.kit.kinds import ENDS, Colours, Plot, named, value_said
from pages.kit.section import Choices
from pages.words.columns import NAMED, NAMES, names_in_paper, title, value_name

_MOST_BARS = 48  # that are not hair-thin on half a page
_POINT, _BAND = {"size": 36, "filled": True}, 0.18
POINT = "point"
"""Name of the selection of a clicked point."""
_ROW, _AROUND = 30, 90  # pixels of a row of dots; of the legend and the axis
_WIDE = 0.34  # width of a layer over which points are spread, so that all are visible


@dataclass(frozen=True, kw_only=True)
class Coloured(Plot):
    """Marks in a colour for each value of the column `colour`, if there is one."""

    colour: str | None = None
    colours: Colours = None
    more: tuple[str, ...] = ()

    def hued(self, frame: pd.DataFrame, choices: Choices) -> tuple[pd.DataFrame, Any, list, Any]:
        """Rows under display names, the colour encoding, the names in order, and their title."""
        frame, drawn = named(frame, self.colour, self.colours, choices)
        heading = drawn.get("colour_title")
        return *coloured(frame, drawn["colour"], heading, drawn.get("colours")), heading

    def interval(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """Columns of the ends, if the rows have them."""
        return self.ends if set(self.ends) <= set(frame) else ()


@dataclass(frozen=True, kw_only=True)
class Bars(Coloured):
    """Bars side by side, a group per `x` and one bar per colour, with rules for intervals.

    Layers that are too many for bars have a line per colour, with a band. `domain` are the ends of
    the y axis.
    """

    x: str = "layer"
    domain: tuple[float, float] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.x, self.colour)))

    def signed(self) -> Plot:
        return replace(self, domain=None)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, encoding, present, hue = self.hued(frame, choices)
        frame, order = self._in_order(frame)
        x, up = self.x, dict[str, Any](title=self.title(name))
        look = {"labelExpr": IN_TWO_LINES, "labelOverlap": False} if x == "scope" else {}
        if x in NAMES:
            texts = {f"{x}{NAMED}": frame[x].map(NAMES[x].of)} | names_in_paper(frame, x)
            frame, x = frame.assign(**texts), f"{x}{NAMED}"
        is_crowded = x == "layer" and frame[x].nunique() * max(len(present), 1) > _MOST_BARS
        ends = self.interval(frame)
        shown = {x: title(self.x), self.colour: hue, self.value: up["title"]}
        shown |= dict.fromkeys((*ends, *self.more))
        base = Chart(frame).encode(
            x=alt.X(f"{x}:O", title=title(self.x), axis=flat_axis(**look), sort=order),
            tooltip=tooltips(shown, frame, self.format),
        )
        if self.colour and not is_crowded:
            base = base.encode(xOffset=alt.XOffset(f"{self.colour}:N", sort=present))
        bare = base.mark_line(point=_POINT) if is_crowded else base.mark_bar(cornerRadiusEnd=1)
        tick = "~%" if self.format.endswith("%") else alt.Undefined
        scale = alt.Scale(domain=self.domain) if self.domain else alt.Undefined
        y = alt.Y(f"{self.value}:Q", **up, scale=scale, axis=alt.Axis(tickCount=6, format=tick))
        marks = bare.encode(y=y, color=encoding)
        if not ends:
            return marks.properties(height=self.height)
        if frame[ends[0]].isna().all():
            return layered(marks, height=self.height)
        interval = base.encode(y=alt.Y(f"{ends[0]}:Q", **up), y2=alt.Y2(ends[1]))
        if is_crowded:
            band = interval.mark_area(opacity=_BAND).encode(color=encoding)
            return layered(band, marks, height=self.height)
        return layered(marks, *edged(interval), height=self.height)

    def _in_order(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
        """Rows with display names across, and their order: of their colours, or of the rows."""
        if self.x in NAMES:
            known = set(frame[self.x])
            names = (value_name(self.x, of) for of in NAMES[self.x].colours if of in known)
            return frame, [*names] or alt.Undefined
        if pd.api.types.is_numeric_dtype(frame[self.x]):
            return frame, alt.Undefined
        frame, _ = named(frame, self.x, None)
        return frame, frame[self.x].drop_duplicates().tolist() or alt.Undefined


@dataclass(frozen=True, kw_only=True)
class Lines(Coloured):
    """One line per colour over a whole-numbered `x`, with bands.

    `level` is a value to compare with, and `dashed` are values of colour whose lines are
    references. `x_format` is that of an x that holds shares. `scale` may be the name of its pick;
    one that is not linear has no 0. `columns` of the legend are as many as fit on a page if None.
    """

    x: str = "layer"
    dashed: tuple[str, ...] = ()
    level: float | None = None
    scale: Scale | str = "linear"
    zero: bool = True
    columns: int | None = None
    points: bool = True
    x_format: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.x, self.colour)))

    def signed(self) -> Plot:
        return replace(self, scale="linear", zero=True, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, encoding, _, hue = self.hued(frame, choices)
        if self.columns is not None:
            encoding["legend"]["columns"] = self.columns
        ends, kind = self.interval(frame), choices.get(self.scale, self.scale)
        scale = alt.Scale(type=kind, zero=self.zero if kind == "linear" else alt.Undefined)
        up = {"title": self.title(name, choices), "scale": scale}
        shown = {self.x: title(self.x), self.colour: hue, self.value: up["title"]}
        base = Chart(frame).encode(
            x=alt.X(
                f"{self.x}:Q",
                title=title(self.x),
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(labelAngle=0, tickMinStep=1, format="d"),
            ),
            color=encoding,
            tooltip=tooltips(shown | dict.fromkeys((*ends, *self.more)), frame, self.format),
        )
        drawn = base.mark_line(point=_POINT if self.points else False)
        drawn = drawn.encode(y=alt.Y(f"{self.value}:Q", **up))
        if self.dashed:
            names = [value_said(str(self.colour), value) for value in self.dashed]
            of_reference = alt.FieldOneOfPredicate(field=str(self.colour), oneOf=names)
            dash = alt.condition(of_reference, alt.value([6, 4]), alt.value([1, 0]))
            drawn = drawn.encode(strokeDash=dash)
        parts = [] if self.level is None else [across(self.level)]
        if ends and frame[ends[0]].notna().any():
            band = base.encode(y=alt.Y(f"{ends[0]}:Q", **up), y2=alt.Y2(ends[1]))
            parts.append(band.mark_area(opacity=_BAND))
        is_alone = not ends and self.level is None
        chart = drawn if is_alone else layered(*parts, drawn)
        axes = {"y": self.axis(name)}
        if self.x_format:
            axes["x"] = alt.Axis(format=self.x_format, tickCount=9, labelAngle=0)
        return with_axes(chart.properties(height=self.height), **axes)


@dataclass(frozen=True, kw_only=True)
class Rows(Coloured):
    """A row per value of `y`, from the top as they come, with a dot and an interval per colour.

    `level` is a value to compare with, and `row` the height of a row in pixels.
    """

    y: str
    level: float | None = None
    row: int = _ROW

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.y, self.colour)))

    @property
    def shared(self) -> tuple[str, ...]:
        return ("x", "color")

    def signed(self) -> Plot:
        return replace(self, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        names = [value_said(self.y, value) for value in frame[self.y]]
        frame, encoding, present, _ = self.hued(frame.assign(**{self.y: names}), choices)
        order = frame[self.y].drop_duplicates().tolist()
        along: dict[str, Any] = {"title": self.title(name), "axis": self.axis(name)}
        shown = dict.fromkeys((self.y, self.colour)) | {self.value: self.title(name)}
        ends = [end for end in self.ends if end in frame]
        base = Chart(frame).encode(
            y=alt.Y(f"{self.y}:N", sort=order, title=None, axis=alt.Axis(labelLimit=280)),
            color=encoding,
            tooltip=tooltips(shown | dict.fromkeys((*ends, *self.more)), frame, self.format),
        )
        if not frame[self.y].duplicated().any():  # one dot in a row stands in its middle
            present = present[:1]
        if len(present) > 1:
            base = base.encode(yOffset=alt.YOffset(f"{self.colour}:N", sort=present))
        points = base.mark_circle(size=80, opacity=1).encode(x=alt.X(f"{self.value}:Q", **along))
        rules = []
        if self.level is not None:
            at = Chart(alt.InlineData(values=[{"level": self.level}]))
            rules = [at.mark_rule(strokeDash=[4, 3]).encode(x=alt.X("level:Q"))]
        if ends and frame[ends[0]].notna().any():
            interval = base.encode(x=alt.X(f"{ends[0]}:Q", **along), x2=alt.X2(ends[1]))
            rules.append(interval.mark_rule(strokeWidth=2))
        n_colours = max(len(present), 1)
        height = self.row * len(order) * (1 if n_colours == 1 else 0.7 * n_colours) + _AROUND
        return layered(*rules, points, height=round(height))


@dataclass(frozen=True, kw_only=True)
class Stacks(Plot):
    """Bars of shares that add up to 1, one per layer and value of `side`.

    `sides` are these values, which may name choices, from left to right, with the opacities of
    their bars; `more` are further columns of the tooltip. The first of `colours` is at the bottom.
    """

    colour: str
    colours: Mapping[Any, str] | None = None
    side: str
    sides: Mapping[str, float]
    more: tuple[str, ...] = ENDS
    format: str = ".1%"
    height: int = 400

    @property
    def keys(self) -> tuple[str, ...]:
        return ("layer", self.colour, self.side)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, drawn = named(frame, self.colour, self.colours)
        sides = {side.format_map(choices): opacity for side, opacity in self.sides.items()}
        sides = {side: sides[side] for side in sides if side in set(frame[self.side])}
        names = {side: value_said(self.side, side) for side in frame[self.side].unique()}
        frame, encoding, order = coloured(
            frame, self.colour, title(self.colour), drawn.get("colours")
        )
        frame = frame.assign(
            place=frame[self.colour].map({name: place for place, name in enumerate(order)}),
            **{self.side: frame[self.side].map(names)},
        )
        beside: list[Any] = [names[side] for side in sides]
        look: dict[str, Any] = {"symbolType": "square"}
        look |= dict.fromkeys(("symbolFillColor", "symbolStrokeColor"), "#808080")
        legend = alt.Legend(orient="bottom", direction="horizontal", **look)
        faintness = alt.Scale(type="ordinal", domain=beside, range=[*sides.values()])
        shown = dict.fromkeys(("layer", self.colour, self.side, *self.more, self.value))
        bars = Chart(frame).mark_bar(stroke="#80808055", strokeWidth=0.5)
        return bars.encode(
            x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
            xOffset=alt.XOffset(f"{self.side}:N", sort=beside),
            y=alt.Y(
                f"{self.value}:Q",
                title=title(self.value),
                stack="zero",
                scale=alt.Scale(domain=[0, 1], nice=False),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=encoding,
            opacity=alt.Opacity(
                f"{self.side}:N", sort=beside, title=" ", scale=faintness, legend=legend
            ),
            order=alt.Order("place:Q"),
            tooltip=tooltips(shown, frame, self.format),
        ).properties(height=self.height)


@dataclass(frozen=True, kw_only=True)
class Points(Plot):
    """A point per row at `x`, which may name a choice, and the value, identified by `marks`.

    `more` are further columns of the tooltip, before the value, and `level` is a value to compare
    with; axes are closely around the points. A click on one that `is_clicked` gives its marks.
    """

    x: str
    x_scale: Scale = "log"
    marks: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    colour: str | None = None
    level: float | None = None
    is_clicked: bool = False
    size: int = 26

    @property
    def keys(self) -> tuple[str, ...]:
        return self.marks

    def signed(self) -> Plot:
        return replace(self, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        x, is_layer = self.x.format_map(choices), self.colour == "layer"
        frame, encoding, _ = coloured(frame, None if is_layer else self.colour, " ")
        is_log = self.x_scale == "log"
        close: dict[str, Any] = {"nice": False, "padding": 8} if is_log else {"zero": False}
        look: dict[str, Any] = {"size": self.size, "opacity": 0.8 if is_layer else 0.5}
        shown = (*self.more, x, self.value, *(end for end in self.ends if end in frame))
        marks = (
            Chart(frame)
            .mark_circle(**look, cursor="pointer" if self.is_clicked else "default")
            .encode(
                x=alt.X(
                    f"{x}:Q",
                    title=title(x),
                    scale=alt.Scale(type=self.x_scale, **close),
                    axis=alt.Axis(format="d" if is_log else alt.Undefined, tickCount=6),
                ),
                y=alt.Y(
                    f"{self.value}:Q",
                    title=title(self.value),
                    scale=alt.Scale(zero=False, padding=8),
                    axis=self.axis(name),
                ),
                color=of_layers(frame) if is_layer else encoding,
                tooltip=tooltips(dict.fromkeys(shown), frame, self.format),
            )
        )
        if self.is_clicked:
            marks = marks.add_params(cell_selection(POINT, *self.marks))
        if self.level is None:
            return marks.properties(height=self.height)
        return layered(across(self.level), marks, height=self.height)


@dataclass(frozen=True, kw_only=True)
class Spread(Plot):
    """Means over heads by layer as lines with bands, and every head as a point.

    Rows without a head are the means; `dashed` is the value of colour whose line is a reference.
    `scale` may be the name of its pick. The chosen head has a ring around its points.
    """

    colour: str
    dashed: str | None = None
    scale: Scale | str = "linear"
    height: int = 380

    @property
    def keys(self) -> tuple[str, ...]:
        return ("layer", "head", self.colour)

    def signed(self) -> Plot:
        return replace(self, scale="linear")

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        scale, ends = choices.get(self.scale, self.scale), ("low", "high")
        if scale == "log":  # which shows nothing from 0 down: intervals that reach it end there
            frame = frame[frame["mean"] > 0]
            frame = frame.assign(low=frame["low"].where(frame["low"] > 0, frame["mean"]))
        numbers = sorted(int(layer) for layer in frame["layer"].unique())
        places = frame["layer"] + _shift(frame, self.colour)
        every = frame.assign(x=places, head=frame["head"].astype("Int64"))
        of_head, of_reference = every["head"].notna(), every[self.colour] == self.dashed
        chosen = (every["layer"] == choices["layer"]) & (every["head"] == choices["head"])
        every, encoding, _ = coloured(every, self.colour, " ")
        x = alt.X(
            "x:Q",
            title=title("layer"),
            scale=alt.Scale(domain=[numbers[0] - 0.5, numbers[-1] + 0.5], nice=False, zero=False),
            axis=alt.Axis(values=numbers, format="d", labelAngle=0, grid=False),
        )
        heading = self.title(name, choices)
        y: dict[str, Any] = {"title": heading, "scale": alt.Scale(type=scale)}
        y["axis"] = self.axis(name)

        def of(rows: pd.Series) -> alt.Chart:
            return Chart(every[rows]).encode(x=x, y=alt.Y("mean:Q", **y), color=encoding)

        def hover(*columns: str) -> list[alt.Tooltip]:
            titles = dict.fromkeys((*columns, self.colour)) | {"mean": heading}
            return tooltips({**titles, **dict.fromkeys(ends)}, every, self.format)

        means = of(~of_head & ~of_reference)
        band = means.encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high"))
        line = means.mark_line(strokeWidth=2.5, point={"size": 50, "filled": True})
        points = of(of_head).mark_circle(size=46, opacity=0.6, cursor="pointer")
        ring = Chart(every[chosen]).encode(x=x, y=alt.Y("mean:Q", **y))
        parts = [
            band.mark_area(opacity=0.2, aria=False),
            line.encode(tooltip=hover("layer")),
            points.encode(tooltip=hover("layer", "head")).add_params(
                cell_selection("head", "layer", "head")
            ),
            ring.mark_point(size=110, stroke=MARKED, strokeWidth=2.5, filled=False, aria=False),
        ]
        if of_reference.any():
            reference = of(of_reference & ~of_head).mark_line(strokeDash=[6, 4], point=False)
            parts.insert(2, reference.encode(tooltip=hover("layer")))
        return layered(*parts, height=self.height)


def _shift(frame: pd.DataFrame, colour: str) -> pd.Series:
    """Shift of the points of heads sideways, so that colours do not overlap; 0 for means."""
    heads = frame["head"].notna()
    present = list(dict.fromkeys(frame.loc[heads, colour]))
    middle, step = (len(present) - 1) / 2, _WIDE / max(len(present) - 1, 1)
    shift = {value: (at - middle) * step for at, value in enumerate(present)}
    return frame[colour].map(shift).where(heads, 0.0)
