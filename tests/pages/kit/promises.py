"""Promises of a caption, and whether the figure keeps them."""

import json
import re
from collections.abc import Callable, Iterator
from colorsys import rgb_to_hls
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from pages.charts.chart_theme import with_data
from tests.pages.kit.exports import PARTS, units

_INTERVAL = re.compile("95% interval|95%信頼区間")
_COLOUR = re.compile(r"#([0-9a-f]{6})\b", re.IGNORECASE)
_HUES = {  # degrees at which a colour begins and ends
    "red": (-25, 24),
    "orange": (8, 48),
    "green": (75, 170),
    "blue": (190, 255),
    "purple": (255, 340),
}


@dataclass(frozen=True)
class Pictured:
    """A figure, a table or markup as a reader sees it.

    Attributes:
        columns: those that a table shows.
        is_clickable: whether a click is read.
    """

    where: str
    texts: tuple[str, ...]
    chart: Any
    frame: pd.DataFrame
    body: str = ""
    columns: tuple[str, ...] = ()
    is_clickable: bool = False

    @cached_property
    def specification(self) -> dict[str, Any]:
        return with_data(self.chart) if self.chart is not None else {}

    @cached_property
    def marks(self) -> set[str]:
        """Kinds of marks of the chart; a line may have points of its own."""
        of_lines = {"point"} if any(_given(self.specification, "point")) else set()
        return {unit.mark for _, unit in units(self.specification)} | of_lines

    @cached_property
    def colours(self) -> set[str]:
        """Names of the colours that the chart or the markup gives to what it draws."""
        theme = self.specification.get("config", {})
        drawn = self.specification | {"config": [theme.get("range"), theme.get("mark")]}
        digits = set(_COLOUR.findall(json.dumps(drawn, default=str) + self.body))
        schemes = " ".join(_given(drawn, "scheme"))
        return {name for given in digits for name in _names(given)} | {
            name for name in _HUES if name in schemes
        }

    @cached_property
    def dashes(self) -> set[str]:
        """`dashed` where a dash is as long as its gap or longer, `dotted` where it is shorter."""
        found = re.findall(r"\[(\d+), (\d+)\b", "".join(_given(self.specification, "strokeDash")))
        pairs = [(int(dash), int(gap)) for dash, gap in found]
        return {"dashed" if dash >= gap else "dotted" for dash, gap in pairs if gap}

    @property
    def can_be_clicked(self) -> bool:
        """True if a click is read by the page, a link or a table, or by the chart itself."""
        of_chart = any("select" in given for given in self.specification.get("params", ()))
        return self.is_clickable or of_chart or "<a " in self.body or self.columns != ()

    @property
    def has_interval(self) -> bool:
        """True if any number is seen with an interval, drawn, in a tooltip or in a column."""
        ends = [name for name in self.columns if name.endswith("low")]
        if _INTERVAL.search(self.body) or (ends and self.frame[ends].notna().to_numpy().any()):
            return True
        datasets = self.specification.get("datasets", {})
        return any(
            row.get(end) is not None
            for _, unit in units(self.specification)
            for end in {*((unit.span or ())[1:2]), *(entry["field"] for entry in unit.tooltip)}
            if end.endswith("low")
            for row in datasets.get(unit.data, ())
        )

    @property
    def n_panels(self) -> int:
        return max((len(self.specification.get(kind, ())) for kind in PARTS[1:]), default=0)


def _given(part: Any, name: str) -> Iterator[str]:
    """Yield what is given under a name anywhere in a specification, as JSON."""
    if isinstance(part, dict):
        yield from (json.dumps(value) for key, value in part.items() if key == name)
        part = [value for key, value in part.items() if key != "datasets"]
    for inner in part if isinstance(part, list) else ():
        yield from _given(inner, name)


def _names(digits: str) -> Iterator[str]:
    """Yield the names that a colour may have."""
    hue, light, saturation = rgb_to_hls(*(part / 255 for part in bytes.fromhex(digits)))
    if saturation < 0.2 and 0.2 < light < 0.85:
        yield "grey"
    for name, (start, end) in _HUES.items() if saturation > 0.2 and 0.15 < light < 0.9 else ():
        if start <= hue * 360 <= end or start <= hue * 360 - 360:
            yield name


@dataclass(frozen=True)
class Promise:
    """Words that name something, in both languages, and how it is seen that it is there.

    What the words say in groups of their pattern is told to `is_kept`, too.
    """

    english: str
    japanese: str
    is_kept: Callable[..., bool]

    def is_made(self, text: str, lang: str) -> re.Match[str] | None:
        return re.search(self.english if lang == "en" else self.japanese, text)

    def is_broken(self, seen: Pictured, text: str, lang: str) -> bool:
        made = self.is_made(text, lang)
        return made is not None and not self.is_kept(seen, *made.groups())


def _drawn(english: str, japanese: str, *marks: str) -> Promise:
    return Promise(english, japanese, lambda seen: bool(seen.body) or bool(seen.marks & {*marks}))


def _coloured(name: str, japanese: str, english: str = "") -> Promise:
    words = rf"(?i)\b{english or name}\b"
    return Promise(words, japanese, lambda seen: name in seen.colours)


def _dashed(name: str, japanese: str) -> Promise:
    return Promise(rf"(?i)\b{name}\b", japanese, lambda seen: name in seen.dashes)


PROMISES = {
    "band": _drawn(r"(?i)\bbands?\b", "帯", "area", "bar"),
    "whisker": _drawn(r"(?i)\bwhiskers?\b", "ひげ", "rule"),
    "line": _drawn(r"(?i)\blines?\b", "(?<![破点角曲])線", "line", "rule", "trail"),
    "bar": _drawn(r"(?i)(?<!in the )\bbars?\b(?! above)", "棒", "bar", "rect"),
    "cell": _drawn(r"(?i)\bcells?\b(?! \d)", r"セル(?! ?\d)|マス(?!ク)", "rect", "area", "bar"),
    "tick": _drawn(r"(?i)\bticks?\b", "縦線|目盛り?が", "tick"),
    "ring": _drawn(r"(?i)\bringed\b", "丸で囲", "point", "circle"),
    "point": _drawn(
        r"(?i)\b(?:dots?|a point|points:|points? (?:per|are)|single heads)\b",
        r"(?<![頂分時論利欠視起終要焦重発読])点(?![線数])",
        *("point", "circle", "square"),
    ),
    "arrow": _drawn(r"(?i)\barrows?\b", "矢印", "trail", "line", "point", "rule"),
    "dashed": _dashed("dashed", "破線"),
    "dotted": _dashed("dotted", "点線"),
    "red": _coloured("red", "赤"),
    "orange": _coloured("orange", "橙|オレンジ"),
    "green": _coloured("green", "緑"),
    "blue": _coloured("blue", "青"),
    "purple": _coloured("purple", "紫"),
    "grey": _coloured("grey", "灰色", "gr[ea]ys?"),
    "interval": Promise(
        r"(?i)95%|(?<!no )(?<!without )\bintervals?\b|whisker",
        "95%|区間(?!(?:は|が)?な)|ひげ",
        lambda seen: seen.has_interval,
    ),
    "click": Promise(
        r"(?i)\bclick\b(?! on a column)",
        r"(?<!列名を)クリック",
        lambda seen: seen.can_be_clicked,
    ),
    "count": Promise(
        r"(?:for each of|Rows:) ([\d,]+)",
        r"(?:行数：|計 )([\d,]+)",
        lambda seen, n: len(seen.frame) == int(n.replace(",", "")),
    ),
    "panels": Promise(
        r"(?:^|[.;] )(?:Top|Middle): |\bon the right\b",
        "(?:^|。)中：|右は",
        lambda seen: seen.n_panels > 1,
    ),
}


def broken(seen: Pictured, lang: str) -> list[str]:
    """Promises of its texts that a figure does not keep; an interval may not go untold either."""
    faults = [
        f"{seen.where}: {name}: {text}"
        for text in seen.texts
        for name, promise in PROMISES.items()
        if promise.is_broken(seen, text, lang)
    ]
    interval = PROMISES["interval"]
    if seen.has_interval and not any(interval.is_made(text, lang) for text in seen.texts):
        faults.append(f"{seen.where}: an interval is shown and not told")
    return faults
