"""Every contract there is, found where they stand: a new table needs no line here."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from analysis import tables
from analysis.tables.table import Table


@cache
def every_table() -> tuple[Table, ...]:
    """The tables of `analysis.tables` by name: what a file of statistics consists of."""
    names = [f"{tables.__name__}.{each.name}" for each in iter_modules(tables.__path__)]
    values = [value for name in names for value in vars(import_module(name)).values()]
    found = {each.name: each for each in values if isinstance(each, Table)}
    return tuple(found[name] for name in sorted(found))
