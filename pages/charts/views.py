"""Views, legends and titles of axes, fitted to the place of their chart on the page."""

from collections.abc import Iterator
from typing import Any

import altair as alt

from pages.charts.title_lines import PLACE, text_width, title_lines

Specification = dict[str, Any]
_AROUND = 70  # pixels of a view's axis
_VIEWS = {"hconcat", "vconcat", "concat"}
_PARTS = ("layer", *_VIEWS)
_TITLE, _LEAST, _OTHERS = 13, 110, 80  # pixels: letters, least length, legend and x axis
_NAMING = {"color", "shape", "strokeDash", "opacity"}
_SYMBOL, _LETTER = 34, 12  # pixels of the mark of a name in a legend, and of its letters
_HIDDEN = {"title": None, "ticks": False}


def fitted(chart: Specification) -> Specification:
    """Chart with views below each other where the page is too narrow, and long titles in lines."""
    for unit, _ in encoded_parts(chart):
        for channel in _NAMING & set(unit["encoding"]):
            _break_legend(unit["encoding"][channel])
    break_titles(chart)
    return _in_rows(chart) if _VIEWS & set(chart) else chart


def break_titles(chart: Specification) -> None:
    """Divide titles of y axes into lines that are no longer than the axis."""
    others = 0 if _VIEWS & set(chart) else _OTHERS
    for unit, height in encoded_parts(chart):
        up = unit["encoding"].get("y") or {}
        if isinstance(up.get("title"), str) and isinstance(height, int | float):
            lines = title_lines(up["title"], max(height - others, _LEAST), _TITLE)
            up["title"] = lines if len(lines) > 1 else up["title"]


def _break_legend(encoding: Specification) -> None:
    """Give a legend above its chart as many columns as have room there."""
    legend, names = encoding.get("legend"), (encoding.get("scale") or {}).get("domain")
    if legend and legend.get("orient") == "top" and names and "gradientLength" not in legend:
        widths = [_SYMBOL + text_width(str(name), _LETTER) for name in names]
        fewer = f"max(1, floor({PLACE} / {max(widths):.0f}))"
        is_row = f"{PLACE} > {_AROUND + sum(widths):.0f}"
        n = len(names)  # rows are as long as each other
        legend["columns"] = {"expr": f"{is_row} ? {n} : ceil({n} / ceil({n} / {fewer}))"}


def _in_rows(chart: Specification) -> Specification:
    """Chart with as many views in a row as the page has room for.

    Names of rows that only the first view has then stand at all of them.
    """
    views = chart.get("hconcat") or chart.get("concat") or []
    columns = len(views) if "hconcat" in chart else chart.get("columns", 1)
    widths = [view.get("width") for view in views]
    if columns < 2 or not all(isinstance(width, int | float) for width in widths):
        return chart
    widths = [width + _AROUND for width in widths]
    need = max(sum(widths[at : at + columns]) for at in range(0, len(views), columns))
    is_narrow = f"{PLACE} < {need}"
    _name_rows(views, is_narrow)
    fewer = f"max(1, floor({PLACE} / {max(widths)}))"
    others = {name: part for name, part in chart.items() if name not in _VIEWS}
    signal = {"signal": f"{is_narrow} ? {fewer} : {columns}"}
    kind = {"$schema": alt.SCHEMA_URL}  # without which Vega-Embed takes it for Vega
    return kind | others | {"concat": views, "columns": signal}


def letters(chart: Specification, size: int) -> Any:
    """Size of letters at axes and in legends, in Vega-Lite.

    They keep it where a column of views of fixed width is made smaller to fit.
    """
    views = chart.get("concat", []) if chart.get("columns") == 1 else []
    widths = [view["width"] for view in views if isinstance(view.get("width"), int | float)]
    need = max(widths, default=0) + 2 * _AROUND
    return {"expr": f"{size} * max(1, {need} / {PLACE})"} if widths else size


def _name_rows(views: list[Specification], is_narrow: str) -> None:
    """Name the rows of all views like those of the first, where the page is narrow."""
    ups = [unit["encoding"].get("y") or {} for unit, _ in encoded_parts(views[0])]
    axes = {up["field"]: up.get("axis", {}) for up in ups if "field" in up}
    for unit, _ in [found for view in views[1:] for found in encoded_parts(view)]:
        up = unit["encoding"].get("y") or {}
        axis = up.get("axis", {})
        first = axes.get(up.get("field"))
        if first is not None and (axis is None or axis.get("labels") is False):
            label = first.get("labelExpr", "datum.label")
            up["axis"] = first | _HIDDEN | {"labelExpr": f"{is_narrow} ? {label} : ''"}


def encoded_parts(part: Specification, height: Any = None) -> Iterator[tuple[Specification, Any]]:
    """Yield all parts with an encoding, and the height of their marks."""
    height = part.get("height", height)
    if "encoding" in part:
        yield part, height
    for kind in _PARTS:
        for inner in part.get(kind, ()):
            yield from encoded_parts(inner, height)
