"""Common look of all charts: colours, legends, axes, tooltips."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from itertools import cycle
from types import SimpleNamespace
from typing import Any, Literal, Self

import altair as alt
import pandas as pd
import streamlit as st
from altair.utils import schemapi

from pages.charts.colours import EDGES, LABELS, MARKED, ON_DARK, PAPER_AND_INK, SERIES_COLOURS, ZERO
from pages.charts.views import fitted, letters
from pages.words.columns import IN_PAPER, NAMED, NAMES, names_in_paper, title, title_or_name
from pages.words.lines import width_of
from pages.words.say import say

_LETTERS = 12  # pixels of type at axes and in legends
_SCREEN = 390  # height of all rows of a map that is seen on a screen without scrolling
_RAMP, _RAMP_TITLE = 300, 45  # pixels: height of a chart, and of the title of its ramp
_NAME = 180  # pixels of a label
_ROW, _MARK = 96, 4  # letters of a row of a legend, and letters' width of a mark
Scale = Literal["linear", "log", "symlog", "sqrt"]

IS_CHECKED = False
"""True if charts are validated when they are drawn, as in tests."""

schemapi.disable_debug_mode()  # a chart is validated when it is drawn, its parts not one by one


class Chart(alt.Chart):
    """Chart whose copies share its parts.

    Altair copies the charts that it layers or sets side by side several times, each with all of its
    encodings: a third of the time of making one. It changes nothing within a copy.
    """

    def __deepcopy__(self, _copied: Any) -> Self:
        return self.copy(deep=False)


def paper_and_ink() -> tuple[str, str]:
    """Colours of the reader's theme for charts that contain text.

    Text marks have a colour of their own, so they keep their background in an export.
    """
    return PAPER_AND_INK[ground()]


def ground() -> Literal["light", "dark"]:
    """Ground of the reader's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def in_theme(chart: Any) -> Any:
    """Prepare a chart for `st.altair_chart`, with text in the colour of the reader's theme.

    Text marks have a colour of their own only where they have a background of their own, so that
    the chart itself can be exported to white paper. The chart is neither copied nor validated,
    which would take a third of the time of a page; tests validate every figure.

    Args:
        chart: of Altair, or in Vega-Lite.
    """

    def to_dict() -> dict[str, Any]:
        drawn = fitted(with_data(chart))
        drawn |= {"config": theme(letters(drawn, _LETTERS))}
        return brightened(drawn) if ground() == "dark" else drawn

    return SimpleNamespace(to_dict=to_dict)


def with_data(chart: Any) -> dict[str, Any]:
    """Chart of Altair or Vega-Lite as Vega-Lite with its data inside; data of a dictionary are
    shared."""
    if isinstance(chart, dict):
        return {name: part if "data" in name else deepcopy(part) for name, part in chart.items()}
    datasets: dict[str, list[dict[str, Any]]] = {}
    drawn = _named(chart, datasets).to_dict(validate=IS_CHECKED)
    return drawn | {"datasets": drawn.get("datasets", {}) | datasets}


def _named(chart: Any, datasets: dict[str, list[dict[str, Any]]]) -> Any:
    """Copy of a chart with names in place of frames, whose rows go to the data sets.

    Altair's own method takes twice as long, uses a registry shared by the whole process, and
    refuses frames of more than 5,000 rows.
    """
    chart = chart.copy(deep=False)
    if isinstance(chart.data, pd.DataFrame):
        rows = chart.data.to_json(orient="records", double_precision=15)
        chart.data = alt.NamedData(name=f"data-{sha256(rows.encode()).hexdigest()[:16]}")
        if chart.data.name not in datasets:
            datasets[chart.data.name] = json.loads(rows)
    for parts in ("layer", "hconcat", "vconcat", "concat"):
        if isinstance(inner := getattr(chart, parts, None), list):
            setattr(chart, parts, [_named(view, datasets) for view in inner])
    if isinstance(chart, alt.FacetChart):
        chart.spec = _named(chart.spec, datasets)
    return chart


def brightened(part: Any) -> Any:
    """Part of a chart with its marks in the colours of a dark ground."""
    if isinstance(part, dict):
        return {name: brightened(value) for name, value in part.items()}
    if isinstance(part, list):
        return [brightened(value) for value in part]
    return ON_DARK.get(part, part) if isinstance(part, str) else part


def theme(size: Any = _LETTERS) -> dict[str, Any]:
    """Configuration of charts for the reader's theme, in Vega-Lite.

    Bars fill their bands: Streamlit's default is narrower, and would separate grouped bars from
    their intervals.

    Args:
        size: of letters at axes and in legends, in Vega-Lite.
    """
    quiet = LABELS[ground()]
    words = {"labelColor": quiet, "titleColor": quiet}
    words |= {"labelFontSize": size, "titleFontSize": size}
    scaled = {} if isinstance(size, int) else {"fontSize": size}
    titles = {"title": {"subtitleColor": quiet} | scaled, "text": {"color": paper_and_ink()[1]}}
    marks = {"bar": {"discreteBandSize": {"band": 1}}}
    legend = words | WHOLE_LEGEND
    axis = words | {"labelFlush": False}  # labels at an end stand on their gridline, too
    axis |= {"labelLimit": _NAME}
    return {"axis": axis, "legend": legend, "header": words, **titles, **marks}


def layered(*parts: Any, **properties: Any) -> Any:
    """Layer charts, the first at the bottom, with properties of the whole.

    Data shared by all parts become those of the whole. `alt.layer` does the same, but first prints
    them to tell equal parts of different data from each other.
    """
    data = parts[0].data
    if all(part.data is data for part in parts):
        bare = [part.copy(deep=False) for part in parts]
        for part in bare:
            part.data = alt.Undefined
        chart = alt.layer(*bare, data=data)
    else:
        chart = alt.layer(*parts)
    for name, value in properties.items():
        chart[name] = value
    return chart


WHOLE_LEGEND = {"labelLimit": 0, "symbolLimit": 0}
"""Configuration of legends, in Vega-Lite, that are neither cut nor short of names."""
IN_TWO_LINES = """
length(datum.label) > 11
    ? split(replace(datum.label, regexp('^(.{5,11})(?=Res|Ff|Ln| )'), '$1|'), '|')
    : test('[\u3040-\u9fff]', datum.label) && length(datum.label) > 6
    ? [slice(datum.label, 0, ceil(length(datum.label) / 2)),
       slice(datum.label, ceil(length(datum.label) / 2))]
    : datum.label
"""
"""Vega expression that breaks a long label before a module or a word; Japanese in the middle."""


def rows_height(n: int, usual: int, *, least: int = 13) -> int:
    """Height of rows in pixels: as usual while all are seen on a screen, or else the least."""
    return n * max(min(usual, _SCREEN // max(n, 1)), least)


def flat_axis(**more: Any) -> alt.Axis:
    """Axis with horizontal labels and further settings."""
    return alt.Axis(labelAngle=0, labelFlush=False, **more)


def coloured(
    frame: pd.DataFrame,
    colour: str | None,
    title: str | None,
    colours: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, Any, list[str]]:
    """Frame with display names in its colour column, the colour encoding, and the order of names.

    Args:
        colours: of the names in the column, in the order of the legend; columns of `NAMES` have
            theirs.
    """
    if colour is None:
        return frame, alt.ColorValue(SERIES_COLOURS[0]), []
    present = list(dict.fromkeys(frame[colour]))
    known = NAMES.get(colour)
    if known and colours is None and set(present) <= set(known.colours):
        in_paper = names_in_paper(frame, colour)
        names = {name: known.of(name) for name in present}
        frame = frame.assign(**{colour: frame[colour].map(names)}, **in_paper)
        colours = {names[name]: known.colours[name] for name in known.colours if name in names}
        present = list(colours)
    colours = colours or dict(zip(present, cycle(SERIES_COLOURS), strict=False))
    present = [name for name in colours if name in present]
    scale = alt.Scale(domain=present, range=[colours[name] for name in present])
    legend = alt.Legend(
        orient="top", symbolType="square", symbolOpacity=1, columns=columns_of(present)
    )
    encoding = alt.Color(f"{colour}:N", title=title, scale=scale, legend=legend)
    return frame, encoding, present


def columns_of(names: list[str], letters: int = _ROW) -> int:
    """Number of legend columns for names that fit on a line of 96 letters, the width of a page."""
    widths = [_MARK + width_of(name) for name in names]
    if sum(widths) <= letters:
        return max(len(names), 1)
    return max(letters // max(widths), 1)


def tooltips(
    titles: Mapping[Any, str | None], frame: pd.DataFrame, format: str
) -> list[alt.Tooltip]:
    """Tooltips of columns with their titles; None for the usual one of a column.

    Names that the papers call otherwise are followed by those.
    """
    formats = {"f": format, "i": ",d", "u": ",d"}  # by the kind of a column
    lines = []
    for name, given in titles.items():
        if not name:
            continue
        called = given or title_or_name(name)
        lines.append(_tooltip(name, called, formats.get(frame[name].dtype.kind)))
        in_paper = f"{name.removesuffix(NAMED)}{IN_PAPER}"
        if in_paper in frame:
            lines.append(_tooltip(in_paper, say("words.in_paper", column=called), None))
    return lines


def column_tooltips(frame: pd.DataFrame, **formats: str) -> list[alt.Tooltip]:
    """Tooltip with a line for every named column, with its title; numbers in the given format."""
    is_number = pd.api.types.is_numeric_dtype
    return [
        _tooltip(name, title(name), format if is_number(frame[name]) else None)
        for name, format in formats.items()
    ]


def _tooltip(name: str, title: str, format: str | None) -> alt.Tooltip:
    """Tooltip line of a column: a number if it has a format."""
    if format is None:
        return alt.Tooltip(f"{name}:N", title=title)
    return alt.Tooltip(f"{name}:Q", title=title, format=format)


def with_axes(chart: Any, **axes: alt.Axis) -> Any:
    """Replace the axes of a chart, in all of its layers."""
    for part in chart.layer if isinstance(chart, alt.LayerChart) else [chart]:
        for side, axis in axes.items():
            part.encoding[side].axis = axis
    return chart


def cell_selection(name: str, *fields: str) -> alt.Parameter:
    return alt.selection_point(name=name, fields=list(fields), on="click", empty=False)


def ringed(points: alt.Chart, head: tuple[int, int], *, size: float) -> alt.Chart:
    """Draw a ring around the point of a head."""
    chosen = (alt.datum["layer"] == head[0]) & (alt.datum["head"] == head[1])
    return points.transform_filter(chosen).mark_point(
        size=size, stroke=MARKED, strokeWidth=2.5, fillOpacity=0, aria=False
    )


def edged(rules: alt.Chart) -> list[alt.Chart]:
    """Draw intervals visible on any colour: a dark rule on a light one."""
    widths = zip(EDGES, (3.5, 1.5), strict=True)
    return [rules.mark_rule(color=colour, strokeWidth=width) for colour, width in widths]


def ramp(format: str, *, room: float = _RAMP, **options: Any) -> alt.Legend:
    """Legend of a colour ramp beside the chart.

    Args:
        room: height of the chart in pixels.
        options: further ones of `alt.Legend`.
    """
    length = max(min(160, room - _RAMP_TITLE), _RAMP_TITLE)
    return alt.Legend(format=format, gradientLength=length, orient="right", **options)


def ramp_below(length: int, **options: Any) -> alt.Legend:
    """Legend of a colour ramp below the chart, with a length in pixels; options of `alt.Legend`."""
    look: dict[str, Any] = {"orient": "bottom", "direction": "horizontal", "gradientThickness": 10}
    return alt.Legend(**look, gradientLength=length, **options)


def open_ends(values: pd.Series, places: Sequence[float], format: str) -> dict[str, Any]:
    """Options of a legend for colours that end before the values do, marked by ≤ or ≥.

    Values beyond an end have its colour.

    Args:
        places: labelled values, from end to end.
        format: of its numbers.
    """
    low, high = places[0], places[-1]
    below = f"datum.value <= {low!r} ? '≤ ' : " if values.min() < low else ""
    above = f"datum.value >= {high!r} ? '≥ ' : " if values.max() > high else ""
    label = f"({below}{above}'') + format(datum.value, '{format}')"
    return {"values": list(places), "labelExpr": label}


def across(level: float) -> alt.Chart:
    """Draw a horizontal line across a chart at a value of y."""
    at = pd.DataFrame({"level": [level]})
    return Chart(at).mark_rule(color=ZERO).encode(y=alt.Y("level:Q"))
