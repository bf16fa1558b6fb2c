"""Sentences of captions on the intervals that a chart draws or a table lists."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from pages.words.say import say
from pages.words.scope import key_of, say_here

_PARTS = ("layer", "hconcat", "vconcat", "concat")
_DRAWN = {"area": "bands", "rule": "whiskers"}
_HOVER, _BOTH = "hover", "both"


def interval_sentence(name: str, form: str | None) -> str:
    """Return the sentence on the intervals of a figure or a table, and the marks that show them.

    They are the bootstrap's over texts, unless the section has a word `NAME_interval`, or it or its
    page a word `interval_kind`.

    Args:
        form: as `interval_form` and `listed_form` return it; without one there is no sentence.
    """
    if form is None:
        return ""
    own = key_of(f"{name}_interval")
    kind = say(own) if own else say_here("interval_kind", shared="figure")
    return say(f"figure.interval_{form}", kind=kind)


def interval_form(chart: Any) -> str | None:
    """Return the form of an Altair chart's intervals: bands, whiskers, both, or tooltips only."""
    forms = set(_forms(chart, None))
    drawn = forms - {_HOVER}
    return _BOTH if len(drawn) > 1 else next(iter(drawn or forms), None)


def listed_form(frame: pd.DataFrame, columns: Iterable[str]) -> str | None:
    """Return the form of a table, if one of its columns holds lower ends of intervals."""
    return "listed" if any(_has_ends(frame, str(name)) for name in columns) else None


def _forms(chart: Any, rows: Any) -> Iterable[str]:
    """Yield the forms of all parts of a chart; `rows` are those of the enclosing chart."""
    rows = chart.data if isinstance(chart.data, pd.DataFrame) else rows
    inner = [getattr(chart, name, None) for name in (*_PARTS, "spec")]
    parts = [part for views in inner for part in (views if isinstance(views, list) else [views])]
    for part in filter(lambda part: hasattr(part, "to_dict"), parts):
        yield from _forms(part, rows)
    encoding: Any = getattr(chart, "encoding", None)
    if not isinstance(rows, pd.DataFrame) or not hasattr(encoding, "to_dict"):
        return
    form = _DRAWN.get(getattr(chart.mark, "type", chart.mark))
    if form and any(
        _field(encoding[f"{side}2"]).endswith("high") and _has_ends(rows, _field(encoding[side]))
        for side in "xy"
    ):
        yield form
    tooltip = encoding["tooltip"]
    entries = tooltip if isinstance(tooltip, list) else [tooltip]
    if any(_has_ends(rows, _field(entry)) for entry in entries):
        yield _HOVER


def _field(channel: Any) -> str:
    return str(getattr(channel, "shorthand", "")).partition(":")[0]


def _has_ends(rows: pd.DataFrame, name: str) -> bool:
    """Return True if a column holds lower ends of intervals, at least one."""
    return name.endswith("low") and name in rows and bool(rows[name].notna().any())
