"""Finding and caption of two compared figures."""

import re
from collections.abc import Mapping
from functools import partial

from pages.ui.comparison.difference import Differences, Row
from pages.ui.comparison.marks import Specification, units
from pages.ui.words.columns import is_column, title
from pages.ui.words.numbers import count, points
from pages.ui.words.say import plain, say

_PLACES = {"layer", "head"}
_PLAIN = re.compile(r"\.\d[f%e]")
_USUAL = ".3g"


def finding_of(
    one: Specification, changes: Mapping[str, Differences], labels: tuple[str, str]
) -> str:
    """Count the marks that differ clearly, and name the largest difference.

    Args:
        one: the first chart.
        labels: of both.
    """
    words = {"one": plain(labels[0]), "other": plain(labels[1])}
    if not changes:
        return say("comparison.unmatched", **words)
    first = max(changes.values(), key=lambda change: len(change.rows))
    row = first.largest
    value = first.of.values[0]
    written = partial(_written, format=_format(one, value))
    words |= {"value": written(row[value]), "place": plain(_place(one, row, first))}
    if not first.with_interval:
        return say("comparison.finding_without", n=count(len(first.rows)), **words)
    if not first.n_clear:
        return say("comparison.finding_unclear", n=count(len(first.with_interval)), **words)
    low, high = (written(row[end]) for end in first.of.ends or ())
    return say(
        "comparison.finding",
        n=count(first.n_clear),
        of=count(len(first.with_interval)),
        low=low,
        high=high,
        **words,
    )


def caption_of(changes: Mapping[str, Differences], labels: tuple[str, str]) -> str:
    """Caption that explains the panels."""
    words = {"one": plain(labels[0]), "other": plain(labels[1])}
    parts = [say("comparison.caption", **words)]
    if changes:
        parts.append(say("comparison.caption_less"))
    if any(change.with_interval for change in changes.values()):
        parts.append(say("comparison.caption_interval"))
    lacking = [change for change in changes.values() if len(change.rows) < change.n_marks]
    if lacking:
        n, of = count(len(lacking[0].rows)), count(lacking[0].n_marks)
        parts.append(say("comparison.caption_lacking", n=n, of=of))
    return " ".join(parts)


def _place(one: Specification, row: Row, change: Differences) -> str:
    """Format the fields that identify a mark, from its tooltip."""
    in_tooltips = (entry["field"] for _, unit in units(one) for entry in unit.tooltip)
    places = change.of.keys | _PLACES
    fields = [name for name in dict.fromkeys(in_tooltips) if name in places and is_column(name)]
    named = [f"{title(field)} {row[field]}" for field in fields if row.get(field) is not None]
    return f" ({say('list.comma').join(named)})" if named else ""


def _format(one: Specification, value: str) -> str:
    """Number format of a field in tooltips."""
    entries = (entry for _, unit in units(one) for entry in unit.tooltip if entry["field"] == value)
    format = next((entry.get("format", "") for entry in entries), "")
    return format if _PLAIN.fullmatch(format) else _USUAL


def _written(difference: float, format: str) -> str:
    """Format a difference with its sign; shares differ by percentage points."""
    if format.endswith("%"):
        return say("comparison.points", n=points(difference, digits=int(format[1])))
    return f"{difference:+{format}}".replace("-", "−")
