"""Promises of a caption, and whether they are drawn: as the SVG of a chart has it, after
every filter and scale, or as the markup or the table has it."""

import re
from collections.abc import Callable, Iterator
from colorsys import rgb_to_hls
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from pages.charts.chart_theme import with_data
from pages.export.files import svg
from tests.pages.kit.marks import PARTS, units

_HUES = {  # degrees at which a colour begins and ends
    "red": (335, 24),
    "orange": (8, 48),
    "green": (75, 170),
    "blue": (190, 255),
    "purple": (255, 340),
    "pink": (290, 345),
}
_INTERVAL = re.compile("95% interval|95%信頼区間")
_COLOUR = re.compile(r"#([0-9a-f]{6})\b|rgba?\((\d+), ?(\d+), ?(\d+)", re.I)


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
    def marks(self) -> list[tuple[str, dict[str, str]]]:
        """Every mark that is seen: its kind, and how it looks."""
        if self.chart is None:
            return []
        return list(_marks(ElementTree.fromstring(svg(self.chart))))

    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.marks}

    @cached_property
    def colours(self) -> set[str]:
        """The names of the colours of marks, of the ramps of legends, and in the markup."""
        looks = [value for _, look in self.marks for value in look.values()]
        found = _COLOUR.findall(" ".join([*looks, self.body]))
        rgb = [
            tuple(bytes.fromhex(digits)) if digits else tuple(map(int, parts))
            for digits, *parts in found
        ]
        return {name for colour in set(rgb) for name in _names(*colour)}

    def dashes(self) -> Iterator[tuple[float, float]]:
        """Yield the lengths of dashes and of the gaps between them."""
        for _, look in self.marks:
            dash, _, gap = look.get("stroke-dasharray", "").partition(",")
            if gap and float(gap):
                yield float(dash), float(gap)

    @property
    def can_be_clicked(self) -> bool:
        """True if a click is read by the page, a link or a table, or by the chart itself."""
        of_chart = any("select" in given for given in self.specification.get("params", ()))
        return self.is_clickable or of_chart or "<a " in self.body or self.columns != ()

    @property
    def has_tooltip(self) -> bool:
        shown = [unit.tooltip for _, unit in units(self.specification)]
        return any(shown) or " title=" in self.body or "<title" in self.body

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

    def encodes(self, *channels: str) -> bool:
        return any(
            channel in unit.encoding
            for _, unit in units(self.specification)
            for channel in channels
        )


def _marks(element: Any, kind: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    names = element.get("class", "")
    if "role-mark" in names or "role-legend-gradient" in names:
        kind = names.partition(" ")[0].removeprefix("mark-")
    elif "role-" in names and "role-frame" not in names and "role-scope" not in names:
        kind = ""  # of an axis, a legend or a title
    if element.tag.endswith("stop"):
        yield "ramp", {"fill": element.get("stop-color", "")}
    if kind and _is_seen(element):
        yield element.get("aria-roledescription", kind).removesuffix(" mark"), element.attrib
        yield kind, element.attrib
    for inner in element:
        yield from _marks(inner, kind)


def _is_seen(element: Any) -> bool:
    """Return True if a part of a drawing is a mark that is not fully transparent."""
    tag, names = element.tag.rpartition("}")[2], element.get("class", "")
    has_shape = tag in ("line", "text", "image") or (tag == "path" and bool(element.get("d")))
    is_ground = "background" in names or "foreground" in names
    return has_shape and not is_ground and element.get("opacity", "1") != "0"


def _names(red: int, green: int, blue: int) -> Iterator[str]:
    """Yield the names that a colour may have."""
    hue, light, saturation = rgb_to_hls(red / 255, green / 255, blue / 255)
    if saturation < 0.2 and 0.2 < light < 0.85:
        yield "grey"
    if light > 0.95:
        yield "white"
    if saturation > 0.2 and 0.15 < light < 0.9:
        for name, (start, end) in _HUES.items():
            degrees = hue * 360
            if start <= degrees <= end if start < end else degrees >= start or degrees <= end:
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


def _coloured(name: str) -> Callable[[Pictured], bool]:
    return lambda seen: name in seen.colours


def _drawn(*kinds: str) -> Callable[[Pictured], bool]:
    return lambda seen: not seen.kinds().isdisjoint(kinds)


PROMISES = {
    "interval": Promise(
        r"(?i)95%|(?<!no )(?<!without )\bintervals?\b|whisker",
        "95%|区間(?!(?:は|が)?な)|ひげ",
        lambda seen: seen.has_interval,
    ),
    "band": Promise(r"(?i)\bbands?\b", "帯", _drawn("area", "bar")),
    "whisker": Promise(r"(?i)\bwhiskers?\b", "ひげ", _drawn("rule")),
    "dashed": Promise(
        r"(?i)\bdashed\b", "破線", lambda seen: any(dash >= gap for dash, gap in seen.dashes())
    ),
    "dotted": Promise(
        r"(?i)\bdotted\b", "点線", lambda seen: any(dash < gap for dash, gap in seen.dashes())
    ),
    "red": Promise(r"(?i)\bred\b", "赤", _coloured("red")),
    "orange": Promise(r"(?i)\borange\b", "橙|オレンジ", _coloured("orange")),
    "green": Promise(r"(?i)\bgreen\b", "緑", _coloured("green")),
    "blue": Promise(r"(?i)\bblue\b", "青", _coloured("blue")),
    "purple": Promise(r"(?i)\bpurple\b", "紫", _coloured("purple")),
    "pink": Promise(r"(?i)\bpink\b", "ピンク|桃色", _coloured("pink")),
    "grey": Promise(r"(?i)\bgr[ea]ys?\b", "灰色", _coloured("grey")),
    "white": Promise(r"(?i)\bwhite\b", "白線|白い", _coloured("white")),
    "point": Promise(
        r"(?i)\b(?:dots?|a point|points:|points? (?:per|are)|single heads)\b",
        r"(?<![頂分時論利欠視起終要焦重発読])点(?![線数])",
        _drawn("symbol"),
    ),
    "line": Promise(r"(?i)\blines?\b", "(?<![破点角曲])線", _drawn("line", "rule", "trail")),
    "bar": Promise(r"(?i)(?<!in the )\bbars?\b(?! above)", "棒", _drawn("bar", "rect")),
    "cell": Promise(
        r"(?i)\bcells?\b(?! \d)", r"セル(?! ?\d)|マス(?!ク)", _drawn("rect", "area", "bar")
    ),
    "tick": Promise(r"(?i)\bticks?\b", "縦線|目盛り?が", _drawn("tick")),
    "ring": Promise(r"(?i)\bringed\b", "丸で囲", _drawn("symbol")),
    "arrow": Promise(r"(?i)\barrows?\b", "矢印", _drawn("path", "trail", "line", "symbol")),
    "shape": Promise(r"(?i)\bshape (?:is|are)\b", "色と形", lambda seen: seen.encodes("shape")),
    "size": Promise(r"(?i)\blarger:", "大きい点", lambda seen: seen.encodes("size")),
    "click": Promise(
        r"(?i)\bclick\b(?! on a column)",
        r"(?<!列名を)クリック",
        lambda seen: seen.can_be_clicked,
    ),
    "pointing": Promise(
        r"(?i)\bpoint(?:ing)? at\b|\btooltip\b",
        "カーソルを合わせ|ポインタを合わせ|マウスを置|を指すと|ツールチップ",
        lambda seen: seen.has_tooltip,
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
    """The promises of its texts that a figure does not keep."""
    return [
        f"{seen.where}: {name}: {text}"
        for text in seen.texts
        for name, promise in PROMISES.items()
        if promise.is_broken(seen, text, lang)
    ]
