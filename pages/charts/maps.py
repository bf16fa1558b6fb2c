"""Kinds of charts of coloured cells: maps of heads, and matrices with their numbers."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    IN_TWO_LINES,
    Chart,
    cell_selection,
    flat_axis,
    layered,
    open_ends,
    ramp,
    ramp_below,
    rows_height,
    tooltips,
)
from pages.charts.colours import INKS, LESS_TO_MORE, MARKED
from pages.charts.title_lines import text_width
from pages.kit.kinds import ENDS, IS_CLEAR, Plot, value_said
from pages.kit.section import Choices
from pages.words.columns import NAMES, shown_as, title, value_name, with_names
from pages.words.say import say
from pages.words.scope import optional_word

CELL = "cell"
"""Name of the selection of a clicked cell."""
_WIDTH = 630  # width of three maps without axes on a page of 1280 pixels
_DOT = 22  # square pixels
_AXES = 150  # axes and legend of a map that is fitted to the page
_HEIGHT, _LEAST = 34, 18  # pixels of a row
_LINE, _GAP = 68, 6  # pixels of a label in one line, and between two labels
_NUMBER = 30  # pixels across of a cell that has room for its number
_AROUND = 62  # axis and its title below the cells


@dataclass(frozen=True, kw_only=True)
class HeadMap(Plot):
    """Cell per layer and head, with a frame around the chosen head; a click chooses another.

    `panel` is a column with a map for each value, in the order of `panels`, side by side; `formats`
    are those of panels with another one.
    `is_signed` values have colours on both sides of 0; others from `low`, or else the least of the
    rows. `clear` is a column that says which cells have no dot. `top` is a column of the values
    whose largest ends a scale. Cells without a value stay empty.
    """

    panel: str | None = None
    panels: tuple[str, ...] = ()
    formats: Mapping[str, str] = field(default_factory=dict)
    is_signed: bool = False
    low: float | None = 0.0
    more: tuple[str, ...] = ()
    clear: str | None = None
    top: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, ("layer", "head", self.panel)))

    @property
    def shared(self) -> tuple[str, ...]:
        return ("color",)

    def format_of(self, row: Mapping[Any, Any]) -> str:
        return self.formats.get(row[self.panel], self.format) if self.panel else self.format

    def signed(self) -> Plot:
        return replace(self, is_signed=True, top=None, clear=IS_CLEAR)

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple[Plot, list[pd.DataFrame]]:
        if self.panel is None:
            return self, frames
        tops = pd.concat(frames).groupby(self.panel)[self.top or self.value].max()
        topped = [frame.assign(top=frame[self.panel].map(tops)) for frame in frames]
        return replace(self, top="top"), topped

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        if self.panel is None:
            return self._map(frame, self.title(name, choices), choices, CELL)
        maps = [
            replace(self, format=self.formats.get(panel, self.format))
            ._map(
                frame[frame[self.panel] == panel],
                optional_word(f"{name}_axis_{panel}") or value_said(self.panel, panel),
                choices,
                f"{CELL}_{panel}",
            )
            .properties(title=value_said(self.panel, panel), width=_WIDTH / len(self.panels))
            for panel in self.panels
        ]
        together = alt.concat(*maps, columns=len(maps), spacing=14)
        return together.resolve_scale(color="independent")

    def _map(self, frame: pd.DataFrame, heading: str, choices: Choices, name: str) -> Any:
        """One map; `name` is that of the selection of a click, with fields layer and head."""
        axis = alt.Axis(labelAngle=0, labelFlush=False, labelOverlap=False, titlePadding=6)
        heads, layers = (sorted(frame[column].unique().tolist()) for column in ("head", "layer"))
        across, down = alt.Scale(domain=heads), alt.Scale(domain=layers)
        base = Chart(frame.dropna(subset=self.value)).encode(
            x=alt.X("head:O", title=title("head"), axis=axis, scale=across),
            y=alt.Y("layer:O", title=title("layer"), axis=axis, scale=down),
        )
        tick = "~%" if self.format.endswith("%") else ".3~r"
        legend = ramp_below(190, tickCount=4, titleLimit=260, format=tick)
        shown = {self.value: heading} | dict.fromkeys(
            (*(end for end in ENDS if end in frame), *self.more)
        )
        places = [alt.Tooltip(f"{of}:O", title=say(f"axis.{of}")) for of in ("layer", "head")]
        cells = base.mark_rect(cursor="pointer").encode(
            color=alt.Color(
                f"{self.value}:Q", title=heading, scale=self._scale(frame), legend=legend
            ),
            tooltip=[*places, *tooltips(shown, frame, self.format)],
        )
        n_rows = max(len(layers), 1)
        height = rows_height(n_rows, max(16, min(28, 240 // n_rows))) + _AXES
        cells = cells.add_params(cell_selection(name, "layer", "head")).properties(height=height)
        over = []
        if self.clear:
            unclear = base.transform_filter(f"datum['{self.clear}'] === false")
            over.append(unclear.mark_circle(color=INKS[0], size=_DOT, opacity=1, tooltip=False))
        if "head" in choices:
            here = (alt.datum["layer"] == choices["layer"]) & (alt.datum["head"] == choices["head"])
            ring = base.transform_filter(here)
            over.append(ring.mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5))
        return layered(cells, *over, height=height) if over else cells

    def _scale(self, frame: pd.DataFrame) -> alt.Scale:
        """Blue below 0 to orange above; or dark at the floor to bright at the top."""
        values = frame[self.top or self.value]
        if self.is_signed:
            reach = float(values.abs().max()) or 1.0
            return alt.Scale(scheme="blueorange", domain=[-reach, reach], domainMid=0)
        low, top = float(values.min()) if self.low is None else self.low, float(values.max())
        return alt.Scale(scheme="viridis", domain=[low, top if top > low else low + 1])


@dataclass(frozen=True)
class Ramp:
    """Colour ramp from `low` to `high`, linear in the values or in their logarithms.

    `format` is that of its legend.
    """

    colours: tuple[str, ...]
    low: float
    high: float
    log: bool = False
    format: str = ".2~g"

    def colour(self, values: pd.Series, title: str, **legend: Any) -> alt.Color:
        """Colour encoding of a column, with a legend that marks ends beyond which values lie.

        Args:
            legend: further options of `ramp`.
        """
        last = len(self.colours) - 1
        stops = [self._value(place / last) for place in range(last + 1)]
        kind = "log" if self.log else "linear"
        scale = alt.Scale(
            type=kind, domain=stops, range=list(self.colours), interpolate="rgb", clamp=True
        )
        legend |= open_ends(values, stops, self.format) if self.log else {}
        return alt.Color(
            f"{values.name}:Q", title=title, scale=scale, legend=ramp(self.format, **legend)
        )

    def ink(self, value: float) -> str:
        """Black or white, whichever has more contrast with a value's colour: at least 4.5 to 1."""
        ground = _luminance(self.rgb(value))
        return INKS[0] if (ground + 0.05) / 0.05 > 1.05 / (ground + 0.05) else INKS[1]

    def rgb(self, value: float) -> tuple[float, ...]:
        """Red, green and blue from 0 to 255, interpolated between the stops around a value."""
        last = len(self.colours) - 1
        place = min(max(self._place(value), 0.0), 1.0) * last
        before = min(int(place), last - 1)
        low, high = (bytes.fromhex(self.colours[before + step][1:]) for step in (0, 1))
        return tuple(a + (b - a) * (place - before) for a, b in zip(low, high, strict=True))

    def _value(self, place: float) -> float:
        if self.log:
            return self.low * (self.high / self.low) ** place
        return self.low + (self.high - self.low) * place

    def _place(self, value: float) -> float:
        if self.log:
            value = max(value, self.low)
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Matrix(Plot):
    """Cell with its number per `x` and `y`, in the order of the rows.

    `ramp` returns the colours of all values. `marked` are picks: the cell that has their options in
    columns of these names has a frame, and a click gives those of another. `more` may name choices.
    """

    x: str = "layer"
    y: str
    ramp: Callable[[pd.Series], Ramp]
    more: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.x, self.y)

    def signed(self) -> Plot:
        return replace(self, ramp=_around_zero, format=f"+{self.format}", more=())

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple[Plot, list[pd.DataFrame]]:
        ramp = self.ramp(pd.concat(frames)[self.value])
        return replace(self, ramp=lambda _: ramp), frames

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        ends = [end for end in self.ends if end in frame]
        more = (column.format_map(choices) for column in self.more)
        form = self.format if self.format.endswith("%") else ".3f"
        orders = {column: _order(frame[column]) for column in (self.x, self.y)}
        colours = self.ramp(frame[self.value])
        shown = with_names(frame.dropna(subset=self.value))
        shown = shown.assign(ink=shown[self.value].map(colours.ink))
        titles = {of: title(of) for of in (self.x, self.y, self.value, *ends, *more)}
        x, y = (shown_as(column, shown) for column in (self.x, self.y))
        all_read: dict[str, Any] = {"labelOverlap": False, "labelLimit": 260}
        axis = alt.Axis(**all_read, labelExpr=IN_TWO_LINES, **_turned(shown[x]))
        down = flat_axis(**all_read)
        base = Chart(shown).encode(
            x=alt.X(f"{x}:O", title=titles[self.x], axis=axis, sort=orders[self.x]),
            y=alt.Y(f"{y}:O", title=titles[self.y], axis=down, sort=orders[self.y]),
            tooltip=tooltips({shown_as(of, shown): titles[of] for of in titles}, shown, form),
        )
        height = rows_height(max(len(set(shown[self.y])), 1), _HEIGHT, least=_LEAST) + _AROUND
        pointer = "pointer" if self.marked else "default"
        cells = base.mark_rect(cursor=pointer).encode(
            color=colours.colour(shown[self.value], titles[self.value], room=height)
        )
        fits = alt.ExprRef(f"width / {shown[self.x].nunique()} < {_NUMBER} ? 0 : 1")
        is_dark = alt.condition(
            f"datum.ink === '{INKS[0]}'", alt.value(INKS[0]), alt.value(INKS[1])
        )
        numbers = base.mark_text(fontSize=12, cursor=pointer, opacity=fits).encode(
            text=alt.Text(f"{self.value}:Q", format=self.format),
            color=alt.ColorValue(**is_dark),
        )
        if not self.marked:
            return layered(cells, numbers, height=height)
        cells = cells.add_params(cell_selection(CELL, *self.marked))
        here = {pick: choices[pick] for pick in self.marked}
        chosen = " && ".join(f"datum['{of}'] === {_written(value)}" for of, value in here.items())
        ring = base.mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
        return layered(cells, numbers, ring.transform_filter(chosen), height=height)


def _around_zero(values: pd.Series) -> Ramp:
    reach = float(values.abs().max()) or 1.0
    return Ramp(LESS_TO_MORE, -reach, reach)


def _order(values: pd.Series) -> list[Any]:
    """Values of a column in their order, under display names."""
    names = values.drop_duplicates().tolist()
    return [value_name(str(values.name), name) for name in names] if values.name in NAMES else names


def _written(value: object) -> str:
    """Format a value for a Vega expression."""
    return f"'{value}'" if isinstance(value, str) else str(value)


def _turned(names: pd.Series) -> dict[str, Any]:
    """Options of an axis whose labels stand upright where a column has no room for a line."""
    widths = [text_width(name, 12) for name in map(str, names.unique())]
    longest = max((width / 2 if width > _LINE else width for width in widths), default=0)
    is_narrow = f"width / {len(widths)} < {longest + _GAP:.0f}"
    sides = {"Angle": "-90 : 0", "Align": "'right' : 'center'", "Baseline": "'middle' : 'top'"}
    return {f"label{of}": alt.ExprRef(f"{is_narrow} ? {values}") for of, values in sides.items()}


def _luminance(rgb: tuple[float, ...]) -> float:
    """Relative luminance as defined by WCAG, from 0 to 1."""
    linear = [
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in rgb
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
