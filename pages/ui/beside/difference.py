"""What one chart shows less what another does, mark by mark, with an interval."""

from dataclasses import dataclass
from typing import Any

from pages.ui.beside.marks import Data, Specification, measured

Row = dict[str, Any]
IS_CLEAR = "is_clear"
"""The field that says whether the interval of a difference leaves out 0."""


@dataclass(frozen=True)
class Differences:
    """The differences of one set of rows of two charts.

    Attributes:
        rows: those of the second chart, each number less that of the first.
        of: what they show.
        n_marks: those of the chart that has more.
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
        """The row that differs most, a clear one if there is any."""
        value = self.of.values[0]
        sure = [row for row in self.rows if row[IS_CLEAR]] or self.rows
        return max(sure, key=lambda row: abs(row[value]))


def differences(one: Specification, other: Specification) -> dict[str, Differences]:
    """By the names of the data of the first chart, the second less the first.

    Both are of one kind, as two drawings of one figure are. Data whose rows cannot be matched have
    none: a mark is there twice, or all that differ are in one chart alone.
    """
    before, after = measured(one), measured(other)
    if len(before) != len(after):
        return {}
    changes = {}
    for (name, of), (second, same) in zip(before.items(), after.items(), strict=True):
        if of != same:
            return {}
        marks = one["datasets"][name], other["datasets"][second]
        rows = _matched(*marks, of)
        if any(row[of.values[0]] for row in rows):
            changes[name] = Differences(rows, of, max(map(len, marks)))
    return changes


def are_same(one: Specification, other: Specification) -> bool:
    """Whether two drawings of one figure show the same data."""
    return [*one["datasets"].values()] == [*other["datasets"].values()]


def _matched(one: list[Row], other: list[Row], of: Data) -> list[Row]:
    """A row for every mark that is in both, where no mark is there twice."""
    before, after = (
        {tuple(repr(row.get(key)) for key in of.keys): row for row in rows} for rows in (one, other)
    )
    if len(before) < len(one) or len(after) < len(other):
        return []
    rows = [_less(row, before[place], of) for place, row in after.items() if place in before]
    return [row for row in rows if row[of.values[0]] is not None]


def _less(row: Row, first: Row, of: Data) -> Row:
    """One row less another.

    The interval reaches from the nearest to the farthest ends of both: it holds however much the
    two depend on each other, as layers and heads do that read the same texts.
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
