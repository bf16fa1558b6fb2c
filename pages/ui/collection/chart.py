"""Check of collected charts, which may come from any source.

A chart is a program: a few letters of it can make endless data, or a picture larger than memory. It
is drawn by the server for a report and by every reader's browser. So a chart may hold only the
elements of our charts, which are data and marks, in amounts that can be drawn.
"""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from reprlib import repr as brief
from typing import Any

import altair as alt
from jsonschema import ValidationError

from pages.ui.charts.chart_theme import IN_TWO_LINES
from pages.ui.export.files import specification

MOST_ROWS, MOST_MARKS = 100_000, 200_000
"""Limits of the rows of all data, and of marks, as several marks may draw one row."""
_LARGEST, _MOST_COUNTED = 10_000, 100
"""Limits of sizes in pixels and of other numbers; of ticks and columns."""
_FARTHEST = 1e300  # from 0, of a number of the data
_LONGEST, _BRIEF, _PICTURE_LETTERS = 40_000, 300, 8 * 2**20  # letters of texts
_DEEPEST, _MOST_VIEWS, _MOST_PARTS, _MOST_NAMES = 16, 100, 5_000, 2_000
_OF_TEXT = 20  # marks that take as long to draw as a text
_MOST_LINES = 10  # of a text that is a list
_SCHEMA = re.compile(r"https://vega\.github\.io/schema/vega-lite/v\d++(?:\.\d++){0,2}\.json")
_FORMAT = re.compile(r"[-+,.~]*+\d?\d?[~]?[a-z%]?")
_ESCAPED = re.compile(r"\\(.)")
_PICTURE = "data:image/png;base64,"
_PARTS = ("layer", "hconcat", "vconcat", "concat")
_TELLING = {"text", "tooltip", "description", "order"}
"""Channels that no scale belongs to."""
_COUNTED = {"tickCount", "columns"}
_OF_DATA = {"domain", "domainMin", "domainMax", "domainMid", "values", "oneOf"}
_OF_ONE_NUMBER = _COUNTED | {"least_width"}
_EXPRESSIONS = {"expr": _BRIEF, "filter": _BRIEF, "test": _BRIEF, "labelExpr": _LONGEST}
_KNOWN = json.loads((files("pages.ui.collection") / "chart.json").read_text(encoding="utf-8"))
"""Allowed names of properties, and types of data, scales, layouts and marks."""
_NAMES, _TYPES = (
    {name for names in _KNOWN[kind].values() for name in names} for kind in ("properties", "types")
)
_TEXT = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_EXPRESSION = re.compile(
    rf"""(?:{_TEXT}|datum(?:\.\w++|\[(?:{_TEXT})\])?+|(?:abs|floor|log|max|min|round)\(|LN10|width
    |height|format\((?:\d++\ /\ )?datum\.value,\ '{_FORMAT.pattern}'\)
    |\d++(?:\.\d*+)?(?:e[-+]?\d++)?|[-+*/<>=!&|?:()\[\],\s])*+""",
    re.VERBOSE,
)
Fault = tuple[str, str]
"""Place in a chart, and what is wrong there."""
_View = tuple[str, dict[str, Any], list]


def faults(chart: dict[str, Any]) -> Iterator[Fault]:
    """Yield elements of a chart that none of ours has, and amounts beyond the limits."""
    yield from unlike_ours(chart)
    try:
        alt.Chart.from_dict({**chart, "datasets": {}})
        specification({**chart, "datasets": {}})
    except (ValidationError, TypeError, KeyError, ValueError):
        yield "", "is not Vega-Lite"
    yield from too_much(chart)


def unlike_ours(chart: dict[str, Any]) -> Iterator[Fault]:
    """Yield data, properties and values that are in none of our charts."""
    yield from _in_data(chart.get("datasets", {}))
    bare = {name: part for name, part in chart.items() if name != "datasets"}
    for n_parts, fault in enumerate(_in_part("", bare, "", 0)):
        if fault:
            yield fault
        if n_parts > _MOST_PARTS:
            yield "", f"has more than {_MOST_PARTS} parts"


def too_much(chart: dict[str, Any]) -> Iterator[Fault]:
    """Yield amounts beyond the limits in a chart that is valid Vega-Lite."""
    views = list(_marked(chart, chart.get("datasets", {}), []))
    if len(views) > _MOST_VIEWS:
        yield "", f"has more than {_MOST_VIEWS} views"
    if sum(_OF_TEXT ** (kind == "text") * len(rows) for kind, _, rows in views) > MOST_MARKS:
        yield "", f"draws more than {MOST_MARKS} marks, of which a text counts as {_OF_TEXT}"
    for _, encoding, rows in views:
        for channel, entry in encoding.items():
            is_named = isinstance(entry, dict) and entry.get("type") in ("nominal", "ordinal")
            if is_named and "field" in entry and channel not in _TELLING:
                column = _ESCAPED.sub(r"\1", entry["field"])
                names = {str(row.get(column, place)) for place, row in enumerate(rows)}
                if len(names) > _MOST_NAMES:
                    yield f"[{channel!r}]", f"tells more than {_MOST_NAMES} names apart"


def _in_data(datasets: Any) -> Iterator[Fault]:
    if not (isinstance(datasets, dict) and all(isinstance(r, list) for r in datasets.values())):
        yield "['datasets']", "is no list of rows for each name"
        return
    if sum(map(len, datasets.values())) > MOST_ROWS:
        yield "['datasets']", f"holds more than {MOST_ROWS} rows"
    for name, rows in datasets.items():
        for place, row in enumerate(rows):
            if not isinstance(row, dict) or not all(map(_is_cell, row.values())):
                yield f"['datasets'][{brief(name)}][{place}]", f"is no row: {brief(row)}"


def _is_cell(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    if isinstance(value, list):
        return len(value) <= _MOST_LINES and all(isinstance(line, str) for line in value)
    return value is None or (isinstance(value, int | float) and abs(value) <= _FARTHEST)


def _in_part(name: str, part: Any, place: str, depth: int) -> Iterator[Fault | None]:
    """Yield the fault of each part, or None."""
    if depth > _DEEPEST:
        yield place, f"is nested more than {_DEEPEST} deep"
    elif name == "data":
        name_of = part.get("name") if isinstance(part, dict) and len(part) == 1 else None
        is_named = isinstance(name_of, str)
        yield None if is_named else (place, f"is not the name of a dataset: {brief(part)}")
    elif isinstance(part, dict):
        yield None
        for inner, value in part.items():
            at = f"{place}[{brief(inner)}]"
            if inner not in _NAMES and inner != "data":
                yield at, "is in no chart of these pages"
            else:
                yield from _in_part(inner, value, at, depth + 1)
    elif isinstance(part, list):
        yield None
        for number, value in enumerate(part):
            yield from _in_part(name, value, f"{place}[{number}]", depth + 1)
    else:
        reason = _in_text(name, part) if isinstance(part, str) else _in_number(name, part)
        yield (place, f"{reason}: {brief(part)}") if reason else None


def _in_text(name: str, text: str) -> str:
    if name == "url":
        return "" if text.startswith(_PICTURE) and len(text) <= _PICTURE_LETTERS else "fetches"
    if name in _EXPRESSIONS:
        known = text == IN_TWO_LINES or _EXPRESSION.fullmatch(text)
        return "" if known and len(text) <= _EXPRESSIONS[name] else "is no expression of ours"
    forms = {"format": _FORMAT, "$schema": _SCHEMA}
    if name in forms and not forms[name].fullmatch(text):
        return f"is no {name} of ours"
    if name in ("type", "mark") and text not in _TYPES:
        return "is a kind that is in no chart of these pages"
    if name in _OF_ONE_NUMBER:
        return "is no number"
    return "" if len(text) <= _LONGEST else "is too long"


def _in_number(name: str, value: float | None) -> str:
    """Return the reason why a name may not have a number; empty if it may, and for text."""
    most = _MOST_COUNTED if name in _COUNTED else _FARTHEST if name in _OF_DATA else _LARGEST
    return "" if value is None or abs(value) <= most else f"is beyond {most:g}"


def _marked(view: dict[str, Any], datasets: dict[str, Any], rows: list) -> Iterator[_View]:
    """Yield mark, encoding and rows of every view."""
    if "data" in view:
        rows = datasets.get(view["data"]["name"], [])
    if mark := view.get("mark"):
        yield mark if isinstance(mark, str) else mark["type"], view.get("encoding", {}), rows
    for part in _PARTS:
        for inner in view.get(part, ()):
            yield from _marked(inner, datasets, rows)
