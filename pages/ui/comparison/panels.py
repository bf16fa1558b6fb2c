"""Three panels: a figure, the same figure for another choice at one scale, and the difference."""

from copy import deepcopy
from typing import Any

from pages.ui.charts.colours import INKS
from pages.ui.charts.fitting.title_lines import title_lines
from pages.ui.comparison.difference import IS_CLEAR, Differences
from pages.ui.comparison.marks import PARTS, Specification, Unit, units
from pages.ui.comparison.scales import around_zero, mark_ends, put_on_one_scale

_WIDTH = 212  # pixels of a panel of three on a page 1280 wide
_NARROW = 0.8  # of a page, below which panels are stacked
_DOT = {"type": "circle", "size": 9, "opacity": 1, "tooltip": False}
_OF_THE_WHOLE = ("$schema", "config", "datasets", "usermeta", "autosize", "background", "padding")
_VIEWS = {"hconcat", "vconcat", "concat", "facet", "repeat"}
_TITLE: dict[str, Any] = {"anchor": "start", "fontSize": 13, "fontWeight": 600, "offset": 6}
_LEGEND = {
    "orient": "bottom",
    "direction": "horizontal",
    "gradientLength": _WIDTH,
    "gradientThickness": 10,
}
_QUIET = {"labels": False, "ticks": False, "title": None}
_OF_CLICKS = ("param", "empty")
_TOLD_ONCE = ("color", "shape", "strokeDash")


def panels(
    one: Specification,
    other: Specification,
    changes: dict[str, Differences],
    titles: tuple[str, str, str],
    *,
    share: float = 1.0,
) -> Specification:
    """Draw both charts on one scale, and their differences, if there are any, on a scale around 0.

    Charts of one view stand side by side if there is room for them, others in a column.

    Args:
        titles: of the panels, in plain text.
        share: fraction of the page's width that is available.
    """
    rows = one["datasets"] | other["datasets"]
    in_row = not _VIEWS & set(one) and share > _NARROW
    width = _WIDTH if in_row else round(3 * _WIDTH * share)
    drawn = [_panel(one, titles[0], width), _panel(other, titles[1], width)]
    put_on_one_scale(drawn[0], drawn[1], rows)
    if changes:
        rows |= {_changed(name): change.rows for name, change in changes.items()}
        drawn.append(_change(_panel(one, titles[2], width), changes, titles[2]))
    for panel in drawn:
        mark_ends(panel, rows)
    _tell_colours_once(drawn)
    if in_row:
        _tell_places_once(drawn)
    is_map = any(unit.measures == "color" for _, unit in units(one))
    scales = dict.fromkeys(("x", "y"), "independent")
    scales |= dict.fromkeys(_TOLD_ONCE, "independent" if is_map else "shared")
    return {
        "hconcat" if in_row else "vconcat": drawn,
        "datasets": rows,
        "resolve": {"scale": scales},
        "spacing": 20,
    }


def _panel(chart: Specification, title: str, width: int) -> Specification:
    """Chart as a panel of a larger one, of fixed width and without selections."""
    panel = {name: part for name, part in deepcopy(chart).items() if name not in _OF_THE_WHOLE}
    _without_clicks(panel)
    if not _VIEWS & set(panel):
        own_width, height = panel.get("width"), panel.get("height")
        is_fixed = isinstance(own_width, int | float)
        if is_fixed and own_width > width and isinstance(height, int | float):
            panel["height"] = height * width / own_width
        panel["width"] = min(own_width, width) if is_fixed else width
    lines = title_lines(title, panel.get("width", width), _TITLE["fontSize"])
    return panel | {"title": {"text": lines, **_TITLE}}


def _without_clicks(part: Any) -> None:
    """Remove selections, and give marks the look that they have without a selection."""
    if isinstance(part, list):
        for inner in part:
            _without_clicks(inner)
    if not isinstance(part, dict):
        return
    part.pop("params", None)
    if "mark" in part or any(kind in part for kind in PARTS):
        part.pop("name", None)
    condition = part.get("condition")
    if isinstance(condition, dict) and "param" in condition:
        del part["condition"]
        if condition.get("empty", True):
            part |= {name: value for name, value in condition.items() if name not in _OF_CLICKS}
    for name, inner in part.items():
        if name != "values":
            _without_clicks(inner)


def _change(panel: Specification, changes: dict[str, Differences], title: str) -> Specification:
    """Panel with differences in place of numbers."""
    for part, unit in list(units(panel)):
        differences = changes.get(str(unit.data))
        if differences and unit.measures:
            encoding = part["encoding"]
            scale = around_zero(unit.measures, differences)
            encoding[unit.measures] |= {"title": title, "scale": scale}
            if unit.measures == "color" and differences.with_interval:
                _put_dots(part, unit)
    return _over(panel, None, changes)


def _put_dots(part: Specification, unit: Unit) -> None:
    """Add a dot to every cell whose interval includes 0."""
    cells = {name: part.pop(name) for name in ("mark", "encoding")}
    places = {name: dict(unit.encoding[name]) for name in ("x", "y")}
    dots = {
        "transform": [{"filter": f"datum['{IS_CLEAR}'] === false"}],
        "mark": _DOT,
        "encoding": {**places, "color": {"value": INKS[0]}},
    }
    part["layer"] = [cells, dots]


def _over(part: Specification, data: str | None, changes: dict[str, Differences]) -> Specification:
    """Put the differences into a panel; remove other marks, such as a line at chance."""
    data = part.get("data", {}).get("name", data)
    if data in changes and "data" in part:
        part["data"] = {"name": _changed(data)}
    for kind in PARTS:
        if kind in part:
            kept = [inner for inner in part[kind] if _is_shown(inner, data, changes)]
            part[kind] = [_over(inner, data, changes) for inner in kept]
    if "spec" in part:
        part["spec"] = _over(part["spec"], data, changes)
    return part


def _is_shown(part: Specification, data: str | None, changes: dict[str, Differences]) -> bool:
    return any(_is_kept(unit, changes) for _, unit in units(part, data))


def _is_kept(unit: Unit, changes: dict[str, Differences]) -> bool:
    """Return True if a mark shows a difference, its interval, or no number at all."""
    if unit.data in changes:
        return not unit.span or unit.span[1:] == changes[unit.data].of.ends
    return not unit.measures


def _changed(name: str) -> str:
    return f"{name}-change"


def _tell_colours_once(drawn: list[Specification]) -> None:
    """Keep the colour legends below the first panel, for two, and below the third."""
    for place, panel in enumerate(drawn):
        for _, unit in units(panel):
            if unit.is_number("color") and unit.encoding["color"].get("legend", {}) is not None:
                legend = unit.encoding["color"].get("legend", {}) | _LEGEND
                unit.encoding["color"]["legend"] = None if place == 1 else legend


def _tell_places_once(drawn: list[Specification]) -> None:
    """Keep names of rows and the y scale at the left only, where panels share them."""
    for place, panel in enumerate(drawn[1:], start=1):
        for _, unit in units(panel):
            up = unit.encoding.get("y", {})
            if up.get("axis", {}) is not None and (place == 1 or not unit.is_number("y")):
                up |= {"title": None, "axis": up.get("axis", {}) | _QUIET}
