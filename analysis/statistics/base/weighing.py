"""Weighings of attention, by weights or by norms."""

from dataclasses import replace

from analysis.statistics.base.columns import named
from analysis.statistics.base.tables import Table, View, grain_of

WEIGHT, NORM, DIFFERENCE = "weight", "norm", "difference"
WEIGHINGS = (WEIGHT, NORM)
"""Weighing by attention weights α, or by ‖αf(x)‖ with every row scaled to a sum of 1."""
WEIGHING = named(
    "what attention is weighed by: weight (α), or norm (‖αf(x)‖, every row scaled to a sum of 1)",
    WEIGHINGS,
    "weighing",
)


def by_weighing(table: Table, weights: str = "") -> Table:
    """Return a table, whose key begins with the weighing, as `NAME_weighing`, with a view of its
    rows by weights, which has its name or another."""
    names = ", ".join(f'"{column.name}"' for column in table.columns[1:])
    sql = f"select {names} from stored.{table.name} where weighing = '{WEIGHT}'"
    grain = grain_of(table.key[1:], table.note)
    view = View(weights or table.name, grain, table.columns[1:], sql)
    return replace(table, shown_as=f"{table.name}_weighing", views=(*table.views, view))
