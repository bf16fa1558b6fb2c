"""Exports of a page, read back and compared with the page."""

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np
import pandas as pd

from pages.charts.chart_theme import with_data
from pages.export import files as export
from pages.export.item import Item, clean, table_of
from pages.export.latex import MOST_ROWS, latex, latex_text
from pages.export.web import web_page
from pages.words.units import PERCENT, POINTS, named_in, without_unit
from tests.pages.kit.marks import Unit, units
from tests.pages.kit.openings import Offer

_IN_PERCENT = ("{} (%)", "{}（%）")
_PLACES = ("x", "y")  # fields that say where something is put, on axes that name every place
_CLOSE = 1e-6  # of numbers in JSON
_PRINTED = 6e-4  # of numbers with four digits


def assert_exported_as_shown(offer: Offer) -> None:
    """Every export holds the numbers that are shown, under their heading and in its unit."""
    frame, chart = offer
    assert len(frame)
    read = pd.read_csv(io.BytesIO(export.csv(frame)), keep_default_na=False, na_values=[""])
    assert list(read) == list(frame)
    for name in frame.select_dtypes("number"):
        assert_close(read[name], frame[name])
    _assert_printed(offer.printed)
    for name, heading, factor in shown_columns(offer):
        assert heading in offer.printed, f"{name} is shown as {heading}"
        assert_close(offer.printed[heading], factor * frame[name])
    page = web_page("", (Item("?", version="1", **_content(offer)),))
    if chart is not None:
        _assert_drawn(offer, page)
    elif not offer.shown.body:
        _assert_in_page(offer.printed, page)


def shown_columns(offer: Offer) -> Iterator[tuple[str, str, int]]:
    """Yield column, printed heading and factor of every numeric column with a unique heading.

    The factor is 100 for numbers in per cent, else 1.
    """
    if offer.shown.asked.own:
        return
    titles = dict(_of_table(offer) if offer[1] is None else _of_chart(offer))
    if offer[1] is not None:  # charts of a page's own have no headings
        titles = {name: titles[name] for name in titles if name in offer.shown.headings}
    every = Counter(title for title, _ in titles.values())
    for name, (title, factor) in titles.items():
        forms = _IN_PERCENT if factor == 100 else ("{}",)
        printed = [form.format(title) for form in forms if form.format(title) in offer.printed]
        if every[title] == 1 and pd.api.types.is_numeric_dtype(offer[0][name]):
            yield name, (printed or [forms[0].format(title)])[0], factor


def _of_table(offer: Offer) -> Iterator[tuple[str, tuple[str, int]]]:
    for name, column in offer.shown.columns.items():
        label, format = column, ""
        if not isinstance(column, str):
            label, format = column["label"], (column["type_config"] or {}).get("format")
        yield name, (label, 100 if format == "percent" else 1)


def _of_chart(offer: Offer) -> Iterator[tuple[str, tuple[str, int]]]:
    """The numbers that have one title, in tooltips or else at axes and in legends; all that is read
    off these is in the frame."""
    drawn: dict[str, set[tuple[str, int]]] = defaultdict(set)
    titled: dict[str, set[str]] = defaultdict(set)
    specification = with_data(offer[1])
    for _, unit in units(specification):
        for channel, entry in unit.encoding.items():
            name, title = str(entry.get("field")), (entry.get("title") or "").strip()
            if not ("field" in entry and _is_read(unit, channel.removesuffix("2"))):
                continue
            column = _exported(offer[0], name)
            assert column is not None, f"{name} is not exported"
            rows = [row.get(name) for row in specification["datasets"].get(unit.data, [])]
            assert_holds(column, rows, f"{name}, shown as {title}")
            if title and name in offer[0] and name not in (unit.span or ()):
                drawn[name].add((title, 100 if _in_percent(unit, entry) else 1))
        for entry in unit.tooltip:
            titled[entry["field"]].add(entry["title"])
    for name, titles in drawn.items():
        factors = {factor for _, factor in titles}
        titles = titled[name] or {title for title, _ in titles}
        others = (titled[other] for other in titled if other in offer[0] and other != name)
        if len(titles) == len(factors) == 1 and titles not in others:
            yield name, (titles.pop(), factors.pop())


def _is_read(unit: Unit, channel: str) -> bool:
    """Return True if a channel shows numbers under a title, not places named by its axis."""
    entry = unit.encoding.get(channel, {})
    is_place = entry.get("field") in _PLACES and (entry.get("axis") or {}).get("values")
    return unit.is_number(channel) and bool((entry.get("title") or "").strip()) and not is_place


def _exported(frame: pd.DataFrame, name: str) -> pd.Series | None:
    """The column of a field, or the one that it was converted from or to."""
    if name in frame:
        return frame[name]
    if without_unit(name) in frame:
        return 100 * frame[without_unit(name)]
    converted = (named_in(unit, name) for unit in (PERCENT, POINTS))
    return next((frame[other] / 100 for other in converted if other in frame), None)


def _in_percent(unit: Unit, entry: dict[str, Any]) -> bool:
    """Return True if all formats of a field are in per cent."""
    entries = [entry, *(other for other in unit.tooltip if other["field"] == entry["field"])]
    parts = [part for shown in entries for part in (shown, shown.get("axis"), shown.get("legend"))]
    formats = [part["format"] for part in parts if part and part.get("format")]
    return bool(formats) and all(format.endswith("%") for format in formats)


def assert_holds(column: pd.Series, values: list[Any], what: str) -> None:
    """Every number is one of those of the column."""
    wanted = np.array([value for value in values if value is not None], dtype=float)
    held = np.sort(column.dropna().to_numpy(dtype=float))
    assert len(held) or not len(wanted), what
    if len(wanted):
        place = np.searchsorted(held, wanted).clip(1, max(len(held) - 1, 1))
        sides = (held[np.minimum(place - step, len(held) - 1)] for step in (0, 1))
        away = np.min([np.abs(side - wanted) for side in sides], axis=0)
        assert (away <= _CLOSE * np.maximum(np.abs(wanted), 1e-3)).all(), what


def assert_close(printed: pd.Series, shown: pd.Series) -> None:
    np.testing.assert_allclose(
        printed.to_numpy(dtype=float), shown.to_numpy(dtype=float), rtol=_CLOSE
    )


def _assert_printed(printed: pd.DataFrame) -> None:
    """The table of LaTeX has these columns under these headings, in four digits."""
    written = latex(printed, caption="c", label="l")
    head = re.search(r"\\toprule\n(.*?) \\\\\n\\midrule", written, re.DOTALL)
    assert head
    assert head[1].split(" & ") == [latex_text(str(name)) for name in printed]
    body = written.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    rows = [re.split(r"(?<!\\) & ", row) for row in body.removesuffix(" \\\\\n").split(" \\\\\n")]
    assert len(rows) == min(len(printed), MOST_ROWS)
    for place, name in enumerate(printed):
        column = printed[name].head(MOST_ROWS)
        if pd.api.types.is_float_dtype(column):
            cells = [float("nan" if row[place] == "--" else row[place]) for row in rows]
            np.testing.assert_allclose(cells, column.to_numpy(dtype=float), rtol=_PRINTED)


def _content(offer: Offer) -> dict[str, Any]:
    if offer[1] is not None:
        return {"chart": with_data(offer[1])}
    return {"body": clean(offer.shown.body), **table_of(offer.printed)}


def _assert_in_page(printed: pd.DataFrame, page: str) -> None:
    """The table of a web page has the same headings and numbers."""
    page = page.partition("<footer>")[0]
    heads = [unescape(name) for name in re.findall("<th>(.*?)</th>", page, re.DOTALL)]
    assert heads == list(map(str, printed))
    rows = re.findall("<tr><td.*?</tr>", page, re.DOTALL)
    for place, name in enumerate(printed):
        column = printed[name].head(len(rows))
        if pd.api.types.is_float_dtype(column):
            cells = [re.findall("<td(.*?)>", row)[place] for row in rows]
            values = [float(cell.split('"')[1]) if cell else np.nan for cell in cells]
            np.testing.assert_allclose(values, column.to_numpy(dtype=float), rtol=_CLOSE)


def _assert_drawn(offer: Offer, page: str) -> None:
    """Check that the web page's chart has the page's data, and the printed one its numbers."""
    charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
    assert charts["chart-1"]["datasets"] == with_data(offer[1])["datasets"]
    picture = export.svg(offer[1])
    assert picture.startswith("<svg")
    assert "mark-" in picture
    assert "NaN" not in picture
    assert "undefined" not in picture
    labels = [unescape(label) for label in re.findall('aria-label="(.*?)"', picture)]
    for title, columns in _told(offer).items():
        numbers = np.concatenate([offer[0][name].to_numpy(dtype=float) for name in columns])
        for label in labels:
            if titled := re.search(rf"(?:^|; ){re.escape(title)}: ([^;]+)", label):
                _assert_told(titled[1], numbers, label)


def _told(offer: Offer) -> dict[str, set[str]]:
    """The columns that are drawn under a title, where the frame has all of them."""
    titled: dict[str, set[str]] = defaultdict(set)
    drawn: set[str] = set()
    for _, unit in units(with_data(offer[1])):
        drawn |= {str(unit.field(channel)) for channel in unit.encoding if unit.is_number(channel)}
        for entry in (*unit.encoding.values(), *unit.tooltip):
            if title := (entry.get("title") or "").strip():
                titled[title].add(entry.get("field", ""))
    numbers = drawn & set(offer[0].select_dtypes("number"))
    return {title: names for title, names in titled.items() if names <= numbers}


def _assert_told(text: str, numbers: np.ndarray, label: str) -> None:
    """A number in words is one of those of a column, to the digits that it has."""
    plain = text.replace("−", "-").replace(",", "")
    if not re.fullmatch(r"[-+\d.e%]+", plain):
        return
    unit = 0.01 if plain.endswith("%") else 1.0
    digits, _, power = plain.removesuffix("%").partition("e")
    number = unit * float(plain.removesuffix("%"))
    last = unit * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    assert np.nanmin(np.abs(numbers - number)) <= 0.51 * last + 0.006 * abs(number), label
