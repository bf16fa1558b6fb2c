"""Weighings of attention, by weights or by norms, and views of one of them."""

from collections.abc import Iterable
from dataclasses import replace

from analysis.statistics.base import columns as declared
from analysis.statistics.base import tables as base
from analysis.statistics.columns import named, number
from analysis.statistics.table import Column, View, interval

WEIGHT, NORM, DIFFERENCE = "weight", "norm", "difference"
WEIGHINGS = (WEIGHT, NORM)
"""Weighing by attention weights α, or by ‖αf(x)‖ with every row scaled to a sum of 1."""
WEIGHING = named(
    "weighing",
    "what attention is weighed by: weight (α), or norm (‖αf(x)‖, every row scaled to a sum of 1)",
)
WEIGHED_BY = declared.named(WEIGHING.meaning, WEIGHINGS, "weighing")


def by_weighing(table: base.Table, weights: str = "") -> base.Table:
    """Return a table, whose key begins with the weighing, as `NAME_weighing`, with a view of its
    rows by weights, which has its name or another."""
    names = ", ".join(f'"{column.name}"' for column in table.columns[1:])
    sql = f"select {names} from stored.{table.name} where weighing = '{WEIGHT}'"
    grain = base.grain_of(table.key[1:], table.note)
    view = View(weights or table.name, grain, table.columns[1:], sql)
    return replace(table, shown_as=f"{table.name}_weighing", views=(*table.views, view))


def of_weights(
    name: str, grain: str, columns: Iterable[Column], *, table: str = "", or_rules: bool = False
) -> View:
    """Return the view of a stored table restricted to weights, without the column `weighing`.

    Args:
        table: the stored one, if the view has another name.
        or_rules: True to include rows of rules, which have no weighing.
    """
    rule = " or weighing is null" if or_rules else ""
    rows = f"from stored.{table or name} where weighing = 'weight'{rule}"
    names = ", ".join(f'"{column.name}"' for column in columns)
    return View(name, grain, tuple(columns), f"select {names} {rows}")


def of_either(*columns: Column) -> tuple[Column, ...]:
    """Return columns twice: all as `NAME_weight`, then all as `NAME_norm`."""
    return tuple(
        replace(column, name=f"{column.name}_{weighing}")
        for weighing in WEIGHINGS
        for column in columns
    )


def difference(unit: str) -> tuple[Column, Column, Column]:
    """Return the columns of a difference, norms minus weights, and of its interval."""
    return (number("difference", "by norms minus by weights", unit), *interval(unit))
