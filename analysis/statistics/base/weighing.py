"""Weighings of attention, by weights or by norms, and views of one of them."""

from collections.abc import Mapping
from dataclasses import replace

from analysis.statistics.base.columns import Column, interval, named, signed
from analysis.statistics.base.tables import Table, View, grain_of, view

WEIGHT, NORM, DIFFERENCE = "weight", "norm", "difference"
WEIGHINGS = (WEIGHT, NORM)
"""Weighing by attention weights α, or by ‖αf(x)‖ with every row scaled to a sum of 1."""
WEIGHING = named(
    "what attention is weighed by: weight (α), or norm (‖αf(x)‖, every row scaled to a sum of 1)",
    WEIGHINGS,
    name="weighing",
)
DIFFERENCES = {"difference": signed("by norms minus by weights"), **interval("share")}
"""Columns of a difference of shares and of its interval."""


def by_weighing(table: Table, weights: str = "") -> Table:
    """Return a table, whose key begins with the weighing, as `NAME_weighing`, with a view of its
    rows by weights, which has its name or another."""
    names = ", ".join(f'"{column.name}"' for column in table.columns[1:])
    sql = f"select {names} from stored.{table.name} where weighing = '{WEIGHT}'"
    grain = grain_of(table.key[1:], table.note)
    by_weights = View(weights or table.name, grain, table.columns[1:], sql)
    return replace(table, shown_as=f"{table.name}_weighing", views=(*table.views, by_weights))


def of_weights(
    name: str,
    key: tuple[Column, ...],
    values: Mapping[str, Column],
    *,
    table: str = "",
    note: str = "",
    where: str = "true",
) -> View:
    """Return the view of a stored table restricted to weights, and to rules, which have no
    weighing, without the column `weighing`.

    Args:
        table: the stored one, if the view has another name.
        where: condition on its rows.
    """
    names = ", ".join(f'"{one}"' for one in (*(column.name for column in key), *values))
    rows = f"from stored.{table or name} where coalesce(weighing, 'weight') = 'weight' and {where}"
    return view(name, key, values, note=note, sql=f"select {names} {rows}")


def of_either(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Return columns twice: all as `NAME_weight`, then all as `NAME_norm`."""
    return {f"{name}_{way}": column for way in WEIGHINGS for name, column in columns.items()}
