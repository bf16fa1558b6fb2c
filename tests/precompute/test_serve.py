"""`mixscope serve` and `open`: the started command, and refusals in one line."""

import os
import socket
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from analysis.errors import UserError
from precompute import serve as module
from precompute.serve import open_file, serve
from tests.refusals import refused

ROOT = Path(__file__).parents[2]
ALLOWED = "--server.allowedHosts="
NOWHERE = "There is no folder {}. Give the one that holds .duckdb files."
NONE = "There is no file {}. `mixscope run` and `mixscope demo` make some."


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "statistics").mkdir()
    (tmp_path / "statistics" / "mine.duckdb").touch()
    monkeypatch.chdir(tmp_path)
    return Path("statistics")


@pytest.fixture
def started(monkeypatch) -> dict[str, Any]:
    """Record the program that would have replaced this process."""
    found: dict[str, Any] = {}

    def take_its_place(program: str, command: list[str], environment: dict[str, str]) -> None:
        found.update(program=program, command=command, environment=environment)

    monkeypatch.setattr(os, "execve", take_its_place)
    return found


@pytest.mark.parametrize(
    ("options", "prefix", "hosts"),
    [
        ({}, "", []),
        *(({"prefix": prefix}, "mixscope", []) for prefix in ("/mixscope", "mixscope/")),
        (
            {"host": "0.0.0.0", "name": ["stats.example.org", "stats"]},
            "",
            ["stats.example.org", "stats"],
        ),
        ({"host": "localhost", "name": ["stats.example.org"]}, "", ["stats.example.org"]),
    ],
)
def test_the_dashboard_takes_the_place_of_the_command(folder, started, options, prefix, hosts):
    serve(folder, port=0, **options)
    assert started["program"] == sys.executable
    address = f"--server.address={options.get('host', '127.0.0.1')}"
    assert started["command"] == [
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
        *("--server.port=0", address, f"--server.baseUrlPath={prefix}"),
        *(f"{ALLOWED}{host}" for host in ("127.0.0.1", "localhost", *hosts)),
    ]
    here = {"MIXSCOPE_STATISTICS": "statistics", "MIXSCOPE_READ_ONLY": "1"}
    assert started["environment"] == os.environ | here


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folder": Path("nowhere")}, NOWHERE.format("nowhere")),
        ({"folder": Path("statistics/mine.duckdb")}, NOWHERE.format("statistics/mine.duckdb")),
        (
            {"folder": Path(".")},
            ". holds no file of statistics (.duckdb). Make one: "
            "`mixscope demo --output demo.duckdb`.",
        ),
        *(
            (
                {"prefix": prefix},
                f"The prefix {prefix!r} is no path of letters, digits and . _ ~ -. "
                "Give one such as /mixscope.",
            )
            for prefix in ("/a b", "/a//b", "/../a", "/{path}", "https://stats.example.org")
        ),
        *(
            (
                {"name": [name]},
                f"{name!r} is no name of a host. Give it without https://, port and path, "
                "such as statistics.example.org.",
            )
            for name in ("https://stats.example.org", "cafe:8443", "*", "a/b", "")
        ),
        (
            {"host": "0.0.0.0"},
            "--host 0.0.0.0 serves other machines, whose readers name this one. Add the name "
            "that they type, such as --name statistics.example.org.",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(folder, started, options, message):
    assert refused(UserError, serve, **({"folder": folder, "port": 0} | options)) == message
    assert not started


def test_a_taken_port_and_a_dashboard_that_is_not_installed_are_told(folder, started, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = refused(UserError, serve, folder, port=port)
    assert message.startswith(f"Port {port} of 127.0.0.1 cannot be served: ")
    monkeypatch.setattr(module, "_APP", Path("elsewhere") / "app.py")
    assert refused(UserError, serve, folder) == (
        "This installation has no dashboard: `pip install -e .` in a checkout."
    )
    assert not started


def test_a_file_is_opened_for_this_machine_alone(folder, started, capsys):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "a b&c.duckdb").touch()
    open_file(folder / "a b&c.duckdb", port=port)
    assert capsys.readouterr().out == f"http://127.0.0.1:{port}/?file=a+b%26c.duckdb\n"
    assert started["command"][5:] == [f"--server.port={port}", "--server.address=127.0.0.1"]
    assert started["environment"] == os.environ | {"MIXSCOPE_STATISTICS": "statistics"}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("statistics/none.duckdb", NONE.format("statistics/none.duckdb")),
        ("statistics", NONE.format("statistics")),
        ("a.db", "a.db does not end in .duckdb, so the dashboard would not find it."),
    ],
)
def test_what_cannot_be_opened_is_refused_in_one_line(folder, started, file, message):
    Path("a.db").touch()
    assert refused(UserError, open_file, Path(file)) == message
    assert not started


def test_on_windows_the_dashboard_is_waited_for():
    ended_with = "import os; os._exit(int(os.environ['A']))"
    with patch.object(os, "name", "nt"), pytest.raises(SystemExit) as ended:
        module._become([sys.executable, "-c", ended_with], {"A": "3"})
    assert ended.value.code == 3
