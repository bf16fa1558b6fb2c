"""Server that assistants ask by the Model Context Protocol, over standard streams; it only reads.

    python -m pages.overview.assistants

Its tools are what the pages do with the same folder of files.
"""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from math import isinf
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from analysis.contracts import every_table
from analysis.errors import UnknownName, UserError
from analysis.sources import PAPERS
from analysis.statistics.table import Column, Table, View
from pages.overview.as_json import account, opened
from pages.ui.charts.headline import unmarked
from pages.ui.sql.asking import COLUMNS, ROWS, SECONDS, Fault, answered, why_unanswered
from pages.ui.store import folder
from pages.ui.store.open_file import Store

_INSTRUCTIONS = (
    "Statistics of attention and of the rest of a Transformer over a corpus: each file holds one "
    "model on one corpus. Begin with `files`, and with `findings` of a file. For other questions "
    "see the views in `contract`, and their columns, before you ask SQL with `query`. Layers and "
    "heads count from 1, sequences and positions from 0. Report the interval with a number."
)
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ONE_AT_A_TIME = Lock()  # words depend on the file whose findings are asked


def files() -> list[dict[str, Any]]:
    """List the files of the folder: name, model, corpus and size, or why a file cannot be read."""
    return [_described(path.name) for path in folder.files()]


def contract(views: list[str] | None = None) -> list[dict[str, Any]]:
    """List the views that every file has, with what a row of each is; a view may have no rows.

    With names of views: their columns with type, meaning and unit, laws, and the paper's title.
    """
    there = {view.name: (table, view) for table in every_table() for view in table.all_views}
    if not views:
        return [{"view": name, "row": view.grain} for name, (_, view) in sorted(there.items())]
    for name in views:
        if name not in there:
            raise UnknownName("view", name, there)
    return [_documented(*there[name]) for name in views]


def findings(file: str) -> dict[str, Any]:
    """Return what the overview finds in a file, the clearest first.

    Each finding has its number, sentence, certainty, interval, baseline, evidence, the link to its
    section, relative to the address of the dashboard, and the SQL behind it.
    """
    with _ONE_AT_A_TIME:
        return account(_path(file))


def query(file: str, sql: str) -> dict[str, Any]:
    # its description is given below, with the limits of the page
    outcome = answered(_store(file).version, sql)
    if isinstance(outcome, Fault):
        is_of_database = outcome.name == "sql"
        raise UserError(outcome.message if is_of_database else unmarked(why_unanswered(outcome)))
    frame = outcome.frame.astype(object)
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return {"columns": list(frame.columns), "rows": rows, "was_cut": outcome.was_cut}


query.__doc__ = f"""Run one statement of DuckDB's SQL that reads, on one file and nothing else.

It has {SECONDS:g} s. Of its answer the first {ROWS:,} rows are returned; `was_cut` says that there
are more. At most {COLUMNS} columns are returned. Ask for summaries in place of many rows.
"""


def server() -> MCPServer:
    """Server of the folder of the dashboard."""
    made = MCPServer("mixscope", instructions=_INSTRUCTIONS)
    for tool in (files, contract, findings, query):
        made.tool(annotations=_READS, structured_output=False)(_as_text(tool))
    return made


def _as_text(tool: Callable[..., Any]) -> Callable[..., str]:
    """Return a tool whose results are JSON, as short as it can be; users' errors are told."""

    @wraps(tool)
    def called(*given: Any, **named: Any) -> str:
        try:
            return json.dumps(tool(*given, **named), ensure_ascii=False, default=float)
        except UserError as error:
            raise ToolError(str(error)) from error

    return called


def _path(file: str) -> Path:
    paths = {path.name: path for path in folder.files()}
    if file not in paths:
        raise UnknownName("file", file, paths)
    return paths[file]


def _store(file: str) -> Store:
    return opened(_path(file))


def _described(file: str) -> dict[str, Any]:
    try:
        store = _store(file)
    except UserError as error:
        return {"name": file, "error": str(error)}
    size = {name: int(store.run[name]) for name in ("n_sequences", "n_tokens", "n_layers")}
    corpus = str(store.run["corpus"])
    return {"name": file, "model": store.model_name, "corpus": corpus, **size}


def _documented(table: Table, view: View) -> dict[str, Any]:
    columns = [_column(column) for column in view.columns]
    about = {"view": view.name, "row": view.grain, "source": PAPERS[table.source].title}
    return about | {"columns": columns, "laws": [" ".join(law.split()) for law in table.laws]}


def _column(column: Column) -> dict[str, Any]:
    kind = f"{column.type}{' or NULL' if column.nullable else ''}"
    return {"name": column.name, "type": kind, "meaning": column.meaning, "unit": column.unit}


def _cell(value: Any) -> Any:
    """Value of a cell as JSON has it: no number for a missing one, a text for an infinite one."""
    if pd.isna(value):
        return None
    return str(value) if isinstance(value, float) and isinf(value) else value


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, that there is no reader
    with suppress(KeyboardInterrupt):
        server().run()
