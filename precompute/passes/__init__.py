"""All passes, found in the subfolders, in the order of their needs.

To add a statistic: its measure, its table and its pass, each a file of one name in the same room.

Version, needs and kind of a pass are read from its file. The file is imported when the pass runs,
so that those that need no model load no torch.
"""

import ast
from collections.abc import Callable
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa

from analysis.contracts import every_table
from analysis.statistics.table import Table
from precompute.passes.base import Pass, needs_of

_KINDS = ("totals", "weights", "fit")


def _found() -> dict[str, Pass]:
    """Return the passes by the name of their table."""
    tables = {table.name: table for table in every_table()}
    files = sorted(Path(__file__).parent.glob("*/*.py"))
    named = [(file, _top_level(file)) for file in files]
    return {
        file.stem: _pass(file, names, tables[file.stem])
        for file, names in named
        if "VERSION" in names
    }


def _top_level(file: Path) -> dict[str, Any]:
    """Return the statements at the top level of a file that give something a name, by that name."""
    names: dict[str, Any] = {}
    for statement in ast.parse(file.read_bytes()).body:
        match statement:
            case (
                ast.FunctionDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                names[name] = statement
    return names


def _pass(file: Path, names: dict[str, Any], table: Table) -> Pass:
    """Return a pass with what its file declares, and functions that import the file when called."""
    module = f"{__name__}.{file.parent.name}.{file.stem}"
    declared: dict[str, Any] = {
        name: ast.literal_eval(names[name].value) for name in ("VERSION", "NEEDS") if name in names
    }
    declared |= {kind: _later(module, kind) for kind in _KINDS if kind in names}
    return cast(Pass, SimpleNamespace(__name__=module, TABLE=table, **declared))


def _later(module: str, function: str) -> Callable[..., pa.Table]:
    """Return a function that imports a function and calls it."""
    return lambda *arguments: getattr(import_module(module), function)(*arguments)


def _in_order(passes: dict[str, Pass]) -> tuple[Pass, ...]:
    """Every pass after those whose tables it needs."""
    needs = {
        name: [need for need in needs_of(statistic) if need in passes]
        for name, statistic in passes.items()
    }
    return tuple(passes[name] for name in TopologicalSorter(needs).static_order())


PASSES = _in_order(_found())
BY_NAME = {statistic.TABLE.name: statistic for statistic in PASSES}
