"""All passes, found in the subfolders, in the order of their needs.

To add a statistic: its measure, its table and its pass, each a file of one name in the same room.
"""

from graphlib import TopologicalSorter
from importlib import import_module
from pkgutil import walk_packages
from typing import cast

from precompute.passes.base import Named, Pass, needs_of


def _found() -> dict[str, Pass]:
    """The passes by the name of their table."""
    names = sorted(module.name for module in walk_packages(__path__, f"{__name__}."))
    modules = map(import_module, names)
    return {
        module.TABLE.name: cast(Pass, module) for module in modules if isinstance(module, Named)
    }


def _in_order(passes: dict[str, Pass]) -> tuple[Pass, ...]:
    """Every pass after those whose tables it needs."""
    needs = {
        name: [need for need in needs_of(statistic) if need in passes]
        for name, statistic in passes.items()
    }
    return tuple(passes[name] for name in TopologicalSorter(needs).static_order())


PASSES = _in_order(_found())
BY_NAME = {statistic.TABLE.name: statistic for statistic in PASSES}
