"""Every contract there is, found where they stand: a new table needs no line here."""

from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pkgutil import walk_packages

from analysis import statistics
from analysis.statistics import annotation, corpus, image
from analysis.statistics.table import Table

OF_CORPORA = (*corpus.TABLES, *annotation.TABLES, image.TABLE)
"""Tables of the corpus itself; all others hold statistics."""


@cache
def every_table() -> tuple[Table, ...]:
    """Return the tables of `analysis.statistics` by name: the contents of a file of statistics."""
    modules = walk_packages(statistics.__path__, f"{statistics.__name__}.")
    values = [value for module in modules for value in vars(import_module(module.name)).values()]
    by_name = {table.name: table for table in values if isinstance(table, Table)}
    return tuple(by_name[name] for name in sorted(by_name))


@cache
def every_statistic() -> dict[str, Table]:
    """Return the tables of statistics by name, each after those that it requires."""
    by_name = {table.name: table for table in every_table() if table not in OF_CORPORA}
    requires = {name: table.requires for name, table in by_name.items()}
    return {name: by_name[name] for name in TopologicalSorter(requires).static_order()}
