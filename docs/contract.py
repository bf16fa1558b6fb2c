"""The pages `contract.md` and `definitions.md` of the site, made of the command line and of the
tables' contracts.

A hook of MkDocs: the pages are generated when the site is built, so that they cannot fall behind.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from analysis.contracts import every_table
from analysis.sources import PAPERS
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.base.tables import Table, View
from analysis.statistics.base.weighing import WEIGHING
from precompute.command_line import app

_OPENING = """# Contract

What other programs may rely on. The command line and the views below stay as they are from the
first release on; everything else may change. This page is generated from the code.

## Command line

`mixscope` is the same as `python -m precompute`. Exit status: 0 done; 1 the run or the check
failed, and one line says why and what to do; 2 wrong usage. Nothing half-written ever has the name
of the output. A run that was stopped goes on where it was when the same command is given again.
`mixscope --version` says which version it is.
"""
_FILE = """## The file

One DuckDB file holds one model on one corpus, under schema version {version}. A file of another
schema version is refused with the version it has. The views below are in the schema `main`; a view
that a run did not fill exists and is empty. Layers and heads count from 1, as in the papers;
sequences and positions from 0. Every table and column carries these words as a comment:
`select * from duckdb_columns()`.

Laws are conditions that hold of every row of the table behind the views. A run whose numbers break
one is not published, and `mixscope check FILE` asks for all of them again.

The same command makes the same numbers, to the bit: whether it is killed and given again, however
many `--workers` there are and in whichever order they finish, here or on a cluster. Where batches
have other sizes, a worker other threads or a machine another processor, sums are added up in
another order: the *agreement* of a table says how far its views agree then.
"""
_DEFINITIONS = f"""# Definitions

Every number that views hold, by its name, with all its meanings and the views that hold it. This
page is generated from the contracts of the tables. Keys, names and ends of intervals are left out.

- A row of a view with the column `quantity` has one of several numbers as its `mean`; they are
  listed under their own names.
- A view with the column `weighing` has every number twice, and the column says
  {WEIGHING.meaning}.
- A share of norms is the mean over queries of each query's share, as that of weights is:
  ‖α_ij f(x_j)‖, with each query's row scaled to a sum of 1. It is called `norm_share`, and under
  the weighing `norm` a head's `cls`, `sep`, `comma_period` and `first`, which under the weighing
  `weight` are the `attention` to these types of token. A ratio of sums of `weighted_norm` is
  another number. A query whose norms are all 0 keeps its weights.
- Means by type of token, and the four of a head's pattern, are over all queries of all sequences; a
  sequence without the type counts as 0, but has no ‖f(x)‖. Means of `sink` are over the queries
  that may look at a token of the place, in the sequences that have it. Where every query sees every
  token, such a mean times the share of sequences with the type is the mean by type; in a decoder
  this holds of the first token alone.

| number | meaning | unit | views |
| --- | --- | --- | --- |
"""
_NO_NUMBERS = ("index", "name", "text", "yes or no")
_ENDS = re.compile(r"(\w+_)?(low|high)")
_KINDS = {str: "text", Path: "path", int: "whole number", float: "number", bool: "yes or no"}
_SEVERAL = {list[str]: "text, several times if need be"}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """The files of the site and these pages."""
    files.append(File.generated(config, "contract.md", content=contract()))
    files.append(File.generated(config, "definitions.md", content=definitions()))
    return files


def definitions() -> str:
    """The page of all numbers by name."""
    views: dict[tuple[str, str, str], list[str]] = {}
    for table in every_table():
        for view in table.all_views:
            for number in _numbers(view, {column.name for column in table.key}):
                views.setdefault(number, []).append(view.name)
    rows = [
        _row(f"`{number[0]}`", *number[1:], ", ".join(f"`{name}`" for name in names))
        for number, names in sorted(views.items())
    ]
    return _DEFINITIONS + "\n".join(rows) + "\n"


def _numbers(view: View, keys: set[str]) -> Iterator[tuple[str, str, str]]:
    """Name, meaning and unit of every number of a view."""
    quantities = [column.quantities for column in view.columns if column.quantities]
    for column in view.columns:
        if column.name == "mean" and quantities:
            for name, (meaning, unit) in quantities[0].items():
                yield name, f"{meaning}; {column.definition}", unit
        elif not (
            column.name in keys or column.unit in _NO_NUMBERS or _ENDS.fullmatch(column.name)
        ):
            yield column.name, column.definition, column.unit


def contract() -> str:
    """The page of the command line and of all views."""
    parts = [_OPENING, *_commands(), _FILE.format(version=SCHEMA_VERSION), *_papers()]
    return "\n".join(parts)


def _commands() -> Iterator[str]:
    for name, command in vars(typer.main.get_command(app))["commands"].items():
        yield f"### mixscope {name}\n\n{command.help.strip()}\n"
        if command.params:
            yield "| argument | values | default | meaning |\n| --- | --- | --- | --- |"
        yield from (_row(*_argument(parameter)) for parameter in command.params)
        yield ""


def _argument(parameter: Any) -> tuple[str, str, str, str]:
    """Name, values, default and meaning of an option or an argument."""
    kind = parameter.type_descriptor.annotation
    values = _SEVERAL.get(kind) or _KINDS.get(kind) or ", ".join(kind)
    is_option = parameter.param_type_name == "option"
    name = parameter.opts[0] if is_option else parameter.name.upper()
    default = "" if parameter.default is None else str(parameter.default)
    return (
        f"`{name}`",
        values,
        "required" if parameter.required else default,
        parameter.help or "",
    )


def _papers() -> Iterator[str]:
    by_source: dict[str, list[Table]] = {key: [] for key in PAPERS}
    for table in every_table():
        by_source[table.source].append(table)
    for key, tables in by_source.items():
        paper = PAPERS[key]
        if tables:
            yield f"## {paper.authors} ({paper.year})\n\n[{paper.title}]({paper.url})\n"
        for table in tables:
            yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    for view in table.all_views:
        yield from _view(view)
    if table.laws:
        yield f"Laws of `{table.name}`:\n"
        yield from (f"- `{' '.join(law.split())}`" for law in table.laws)
        yield ""
    yield f"Agreement of `{table.name}`: {_agreement(table)}.\n"


def _agreement(table: Table) -> str:
    if not table.round_off:
        return table.agreement.meaning
    names = ", ".join(f"`{column}`" for column in table.round_off)
    return f"{table.agreement.meaning}, but for what is about round-off itself ({names})"


def _view(view: View) -> Iterator[str]:
    yield f"### {view.name}\n\n{view.grain[0].upper()}{view.grain[1:]}.\n"
    yield "| column | type | meaning | unit |\n| --- | --- | --- | --- |"
    for column in view.columns:
        yield _row(f"`{column.name}`", _type(column), column.definition, column.unit)
    yield ""


def _type(column: Any) -> str:
    is_name = pa.types.is_dictionary(column.type)
    return f"{'string' if is_name else column.type}{' or NULL' if column.nullable else ''}"


def _row(*cells: str) -> str:
    safe = (" ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(safe)} |"
