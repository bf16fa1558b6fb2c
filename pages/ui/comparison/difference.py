"""Difference of two charts, mark by mark, with intervals."""

from dataclasses import dataclass
from typing import Any

from pages.ui.comparison.marks import Data, Specification, measured

Row = dict[str, Any]
IS_CLEAR = "is_clear"
"""Field that is True if the interval of a difference excludes 0."""


@dataclass(frozen=True)
class Differences:
    """Differences of one data set of two charts.

    Attributes:
        rows: those of the second chart, each number minus that of the first.
        of: description of the data.
        n_marks: of the chart that has more of them.
    """

    rows: list[Row]
    of: Data
    n_marks: int

    @property
    def with_interval(self) -> list[Row]:
        return [row for row in self.rows if row[IS_CLEAR] is not None]

    @property
    def n_clear(self) -> int:
        return sum(bool(row[IS_CLEAR]) for row in self.rows)

    @property
    def largest(self) -> Row:
        """Row with the largest difference; clear differences take precedence."""
        value = self.of.values[0]
        sure = [row for row in self.rows if row[IS_CLEAR]] or self.rows
        return max(sure, key=lambda row: abs(row[value]))


def differences(one: Specification, other: Specification) -> dict[str, Differences]:
    """Differences, second minus first, by the name of the data set in the first chart.

    Both charts are drawings of one figure. A data set is missing if its rows cannot be matched (a
    key occurs twice), or if no matched row differs.
    """
    before, after = measured(one), measured(other)
    if len(before) != len(after):
        return {}
    changes = {}
    for (name, of), (second, same) in zip(before.items(), after.items(), strict=True):
        if of != same:
            return {}
        sides = one["datasets"][name], other["datasets"][second]
        rows = _matched(*sides, of)
        if any(row[of.values[0]] for row in rows):
            changes[name] = Differences(rows, of, n_marks=max(map(len, sides)))
    return changes


def are_same(one: Specification, other: Specification) -> bool:
    """Return True if two drawings of one figure have the same data."""
    return [*one["datasets"].values()] == [*other["datasets"].values()]


def _matched(one: list[Row], other: list[Row], of: Data) -> list[Row]:
    """Differences for every key with a number in both; empty if a key occurs twice in one chart."""
    keys = sorted(of.keys)
    by_place = {tuple(map(repr, map(row.get, keys))): row for row in one}
    places = [tuple(map(repr, map(row.get, keys))) for row in other]
    if len(by_place) < len(one) or len(set(places)) < len(places):
        return []
    changes = [
        _less(row, by_place[place], of)
        for place, row in zip(places, other, strict=True)
        if place in by_place
    ]
    return [change for change in changes if change[of.values[0]] is not None]


def _less(row: Row, first: Row, of: Data) -> Row:
    """Row minus the first row.

    The interval reaches from the nearest to the farthest ends of both. It holds for any dependence
    between the two, such as that of layers and heads on the same texts.
    """
    less = row | {name: _change(row, first, name, name) for name in of.values} | {IS_CLEAR: None}
    if of.ends:
        low, high = of.ends
        ends = _change(row, first, low, high), _change(row, first, high, low)
        less |= dict(zip(of.ends, ends, strict=True))
        if ends[0] is not None and ends[1] is not None:
            less[IS_CLEAR] = ends[0] > 0 or ends[1] < 0
    return less


def _change(row: Row, first: Row, name: str, of_first: str) -> float | None:
    if not (_is_number(row.get(name)) and _is_number(first.get(of_first))):
        return None
    return row[name] - first[of_first]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
