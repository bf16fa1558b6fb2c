"""All statistics, in the order of their requirements, and the passes that fill their tables.

To add a statistic: its table in `analysis/statistics`, and, unless it is made from other tables, a
function in the file of its theme here that turns layers into rows.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from analysis.contracts import every_statistic
from analysis.statistics.table import Table

_KINDS = ("totals", "weights", "fit")


def _found() -> dict[str, Table]:
    """Return the statistics by name; those with a file of their own here take what it declares."""
    tables = dict(every_statistic())
    for file in sorted(Path(__file__).parent.glob("*/*.py")):
        names = _top_level(file)
        if "VERSION" in names:
            tables[file.stem] = _filled(file, names, tables[file.stem])
    return tables


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


def _filled(file: Path, names: dict[str, Any], table: Table) -> Table:
    """Return a table with what the file of its pass declares."""
    module = f"{__name__}.{file.parent.name}.{file.stem}"
    requires = ast.literal_eval(names["NEEDS"].value) if "NEEDS" in names else ()
    return replace(
        table,
        version=ast.literal_eval(names["VERSION"].value),
        requires=requires,
        made_by=_fit(module) if "fit" in names else None,
        of_model="weights" in names,
    )


def _fit(module: str) -> Callable[..., pa.Table]:
    return lambda table, *arguments: import_module(module).fit(*arguments)


def _in_order(tables: dict[str, Table]) -> dict[str, Table]:
    """Every table after those that it requires."""
    requires = {name: table.requires for name, table in tables.items()}
    return {name: tables[name] for name in TopologicalSorter(requires).static_order()}


STATISTICS = _in_order(_found())
