"""Every contract there is, found where they stand: a new table needs no line here."""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from analysis import tables
from analysis.tables.table import Table


@cache
def every_table() -> tuple[Table, ...]:
    """The tables of `analysis.tables` by name: what a file of statistics consists of."""
    names = [each.name for each in walk_packages(tables.__path__, f"{tables.__name__}.")]
    values = [value for name in names for value in vars(import_module(name)).values()]
    found = {each.name: each for each in values if isinstance(each, Table)}
    return tuple(found[name] for name in sorted(found))
