"""Heat map with the numbers printed in its cells, in a colour legible on the cell."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    rows_height,
    tooltips,
)
from pages.charts.colours import INKS, MARKED
from pages.charts.title_lines import text_width
from pages.words.columns import NAMES, shown_as, title, value_name, with_names

CELL = "cell"
_HEIGHT, _LEAST = 34, 18  # pixels of a row
_LINE, _GAP = 68, 6  # pixels of a label in one line, and between two labels
_NUMBER = 30  # pixels across of a cell that has room for its number
_AROUND = 62  # axis and its title below the cells


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


def number_map(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    colours: Ramp,
    format: str,
    tooltip: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    marked: Mapping[str, Any] | None = None,
) -> Any:
    """One cell per x and y with its value in it.

    Args:
        format: of the number in a cell.
        tooltip: further columns that the tooltip shows.
        titles: in place of those of the columns.
        orders: of what stands on x and on y; as they come if not given.
        marked: what the cell with a frame around it has in some columns, which a click gives of
            another cell; None makes nothing of a click.
    """
    titles = titles or {column: title(column) for column in (x, y, value, *tooltip)}
    form = format if format.endswith("%") else ".3f"
    shown = with_names(frame.dropna(subset=value))
    shown = shown.assign(ink=shown[value].map(colours.ink))
    all_read = {"labelOverlap": False, "labelLimit": 260}
    across = flat_axis(**all_read)
    turned = _turned(shown[shown_as(x, shown)])
    axis = alt.Axis(**all_read, labelExpr=IN_TWO_LINES, **turned)
    base = Chart(shown).encode(
        x=alt.X(f"{shown_as(x, shown)}:O", title=titles[x], axis=axis, sort=_order(x, orders)),
        y=alt.Y(f"{shown_as(y, shown)}:O", title=titles[y], axis=across, sort=_order(y, orders)),
        tooltip=tooltips({shown_as(name, shown): titles[name] for name in titles}, shown, form),
    )
    height = rows_height(max(len(set(shown[y])), 1), _HEIGHT, least=_LEAST) + _AROUND
    pointer = "pointer" if marked else "default"
    cells = base.mark_rect(cursor=pointer).encode(
        color=colours.colour(shown[value], titles[value], room=height)
    )
    if marked:
        cells = cells.add_params(cell_selection(CELL, *marked))
    fits = alt.ExprRef(f"width / {shown[x].nunique()} < {_NUMBER} ? 0 : 1")
    numbers = base.mark_text(fontSize=12, cursor=pointer, opacity=fits).encode(
        text=alt.Text(f"{value}:Q", format=format),
        color=alt.ColorValue(
            **alt.condition(f"datum.ink === '{INKS[0]}'", alt.value(INKS[0]), alt.value(INKS[1]))
        ),
    )
    parts = [cells, numbers]
    if marked:
        chosen = " && ".join(f"datum['{name}'] === {_written(v)}" for name, v in marked.items())
        ring = base.mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
        parts.append(ring.transform_filter(chosen))
    return layered(*parts, height=height)


def _turned(names: pd.Series) -> dict[str, Any]:
    """Options of an axis whose labels stand upright where a column has no room for a line."""
    widths = [text_width(name, 12) for name in map(str, names.unique())]
    longest = max((width / 2 if width > _LINE else width for width in widths), default=0)
    is_narrow = f"width / {len(widths)} < {longest + _GAP:.0f}"
    sides = {"Angle": "-90 : 0", "Align": "'right' : 'center'", "Baseline": "'middle' : 'top'"}
    return {f"label{of}": alt.ExprRef(f"{is_narrow} ? {values}") for of, values in sides.items()}


def _order(column: str, orders: Mapping[str, Sequence[Any]] | None) -> Any:
    """Values of a column in their order, under display names."""
    if not orders or column not in orders:
        return None
    return [value_name(column, value) if column in NAMES else value for value in orders[column]]


def _written(value: object) -> str:
    """Format a value for a Vega expression."""
    return f"'{value}'" if isinstance(value, str) else str(value)


def _luminance(rgb: tuple[float, ...]) -> float:
    """Relative luminance as defined by WCAG, from 0 to 1."""
    linear = [
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in rgb
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
