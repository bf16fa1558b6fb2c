"""Every contract there is, found where they stand: a new table needs no line here."""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from analysis import statistics
from analysis.statistics.table import Table


@cache
def every_table() -> tuple[Table, ...]:
    """Return the tables of `analysis.statistics` by name: the contents of a file of statistics."""
    names = [module.name for module in walk_packages(statistics.__path__, f"{statistics.__name__}.")]
    values = [value for name in names for value in vars(import_module(name)).values()]
    by_name = {table.name: table for table in values if isinstance(table, Table)}
    return tuple(by_name[name] for name in sorted(by_name))
