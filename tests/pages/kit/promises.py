"""What a caption promises of a figure, and whether it is there."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from pages.charts.chart_theme import with_data
from tests.pages.kit.exports import PARTS, units

_INTERVAL = re.compile("95% interval|95%信頼区間")


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


PROMISES = {
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
