"""Assistants are told what the pages show, and refused what the pages refuse."""

import asyncio
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp_types import TextContent

from analysis.contracts import every_table
from analysis.errors import UserError
from analysis.statistics.norms import token_type_mixing
from pages.overview.as_json import account
from pages.overview.assistants import server
from pages.ui.sql.asking import ROWS
from precompute import serve
from tests.refusals import refused

ROOT = Path(__file__).parents[3]
SIZE = "select n_layers, n_heads from run"
Call = tuple[str, dict[str, Any]]


def answers(to: MCPServer | StdioServerParameters, calls: Iterable[Call]) -> list[tuple[bool, str]]:
    """Whether each call failed, and the text that the assistant got, in one session."""

    async def session() -> list[tuple[bool, str]]:
        async with Client(to) as client:
            results = [await client.call_tool(name, given) for name, given in calls]
        texts = [part.text for result in results for part in result.content
                 if isinstance(part, TextContent)]  # fmt: skip
        failed = [bool(result.is_error) for result in results]
        return list(zip(failed, texts, strict=True))

    return asyncio.run(session())


def read(calls: Iterable[Call]) -> list[Any]:
    outcomes = answers(server(), calls)
    assert not [text for failed, text in outcomes if failed]
    return [json.loads(text) for _, text in outcomes]


def query(sql: str) -> Call:
    return "query", {"file": "tiny.duckdb", "sql": sql}


@pytest.fixture
def folder(store_folder, monkeypatch) -> Path:
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    return store_folder


def test_an_assistant_is_told_what_the_pages_show(folder):
    view = token_type_mixing.TABLE.all_views[0]
    calls = [("files", {}), ("contract", {}), ("contract", {"views": [view.name]})]
    files, contract, [documented], found, size = read(
        [*calls, ("findings", {"file": "tiny.duckdb"}), query(SIZE)]
    )
    [file] = files
    assert (file["name"], file["model"], file["n_layers"]) == ("tiny.duckdb", "model-bert", 2)
    assert [entry["view"] for entry in contract] == sorted(
        view.name for table in every_table() for view in table.all_views
    )
    assert documented["row"] == view.grain
    assert {column["name"]: column["meaning"] for column in documented["columns"]} == {
        column.name: column.meaning for column in view.columns
    }
    assert found == json.loads(json.dumps(account(folder / "tiny.duckdb"), default=float))
    assert size == {"columns": ["n_layers", "n_heads"], "rows": [[2, 3]], "was_cut": False}


def test_what_is_no_number_is_none_and_more_rows_are_said_to_be_there(folder):
    odd = "select 'inf'::double a, null b, 'nan'::double c, true d, 2::hugeint ** 70 e, [1, 2] f"
    cells, many = read([query(odd), query("from range(100000)")])
    assert cells["rows"] == [["inf", None, None, True, 2.0**70, "[1, 2]"]]
    assert many["was_cut"]
    assert many["rows"] == [[n] for n in range(ROWS)]


REFUSED = {
    "from read_text('{secret}')": "Permission Error",
    "copy (select 1) to '{secret}'": "This is a statement of the kind COPY.",
    "drop view run": "This is a statement of the kind DROP.",
    "select repeat('x', 20000000)": "The answer is too large to be shown",
    "select count(*) from no_such_view": "Catalog Error",
}


def test_what_the_page_refuses_is_refused_in_its_words(folder, tmp_path):
    secret = tmp_path / "secret.duckdb"
    secret.write_text("what nobody may read")
    outcomes = answers(server(), [query(sql.format(secret=secret)) for sql in REFUSED])
    for (failed, text), reason in zip(outcomes, REFUSED.values(), strict=True):
        assert failed, text
        assert text.startswith(f"Error executing tool query: {reason}"), text
    assert secret.read_text() == "what nobody may read"


def test_no_name_leads_out_of_the_folder(folder, tmp_path):
    (tmp_path / "other.duckdb").write_bytes((folder / "tiny.duckdb").read_bytes())
    outside = [str(tmp_path / "other.duckdb"), f"../{tmp_path.name}/other.duckdb"]
    names = [*outside, "", ".", "./tiny.duckdb", f"{folder.name}/../tiny.duckdb", "tiny.duckdb\0"]
    calls = [query(SIZE)[1] | {"file": name} for name in names]
    outcomes = answers(server(), [("query", given) for given in calls])
    outcomes += answers(server(), [("findings", {"file": name}) for name in names])
    assert all(failed and "No file is called" in text for failed, text in outcomes)


def test_a_file_that_cannot_be_read_says_so_beside_the_others(damaged_folder, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(damaged_folder))
    [[file]] = read([("files", {})])
    assert set(file) == {"name", "error"}
    [(failed, text)] = answers(server(), [("findings", {"file": "damaged.duckdb"})])
    assert failed
    assert file["error"] in text


@pytest.mark.slow
def test_the_command_serves_a_session_over_standard_streams(store_folder):
    arguments = ["-m", "precompute", "mcp", str(store_folder)]
    program = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)
    [(failed, text)] = answers(program, [query(SIZE)])
    assert not failed
    assert json.loads(text)["rows"] == [[2, 3]]


def test_without_the_package_the_command_names_the_one_that_installs_it(folder, monkeypatch):
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    assert refused(UserError, serve.mcp, folder) == (
        "Assistants need a package that is not installed. "
        f"Install it: python -m pip install {serve.MCP}"
    )
