"""Every contract there is, found where they stand: a new table needs no line here."""

from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pkgutil import walk_packages

from analysis import statistics
from analysis.needs import Setting
from analysis.statistics import corpus
from analysis.statistics.base.tables import Table


@cache
def every_table() -> tuple[Table, ...]:
    """Return the tables of `analysis.statistics` by name: the contents of a file of statistics."""
    by_name = {table.name: table for table, _ in _with_modules()}
    return tuple(by_name[name] for name in sorted(by_name))


def _with_modules() -> Iterator[tuple[Table, str]]:
    """Yield every table with the name of its module."""
    for module in walk_packages(statistics.__path__, f"{statistics.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Table):
                yield value, module.name


@cache
def every_statistic() -> dict[str, Table]:
    """Return the tables of statistics by name, each after those that it requires."""
    by_name = {table.name: table for table in every_table() if table not in corpus.TABLES}
    requires = {name: table.requires for name, table in by_name.items()}
    return {name: by_name[name] for name in TopologicalSorter(requires).static_order()}


ALL, CHECKS = "all", "checks"
_OF_THEMES = {"norms": "attention", "mixing": "layers"}
"""Names of groups, where readers of pages know a theme by another name."""


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """Return the names of the statistics of each group; each is in one group, and in `all`.

    A group is a theme, a folder of `analysis.statistics`. Checks of robustness are a group of their
    own: tables that depend on the texts that are checked or run again, and those made from them.
    """
    of_few = {Setting.CHECKED, Setting.RUN_AGAIN}
    themes = {table.name: module.split(".")[2] for table, module in _with_modules()}
    checks: set[str] = set()
    by_group: dict[str, list[str]] = {}
    for name, table in every_statistic().items():
        if of_few & {*table.depends_on} or not checks.isdisjoint(table.requires):
            checks.add(name)
        theme = themes[name]
        group = CHECKS if name in checks else _OF_THEMES.get(theme, theme)
        by_group.setdefault(group, []).append(name)
    ordered = {group: tuple(by_group[group]) for group in sorted(by_group)}
    return ordered | {ALL: tuple(every_statistic())}
