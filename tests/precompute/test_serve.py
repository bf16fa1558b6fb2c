"""`mixscope serve`: the started command, and refusals in one line."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import UserError
from precompute import serve as module
from precompute.serve import open_file, serve

ROOT = Path(__file__).parents[2]


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


def test_the_dashboard_takes_the_place_of_the_command(folder, started):
    serve(folder, port=0)
    assert started["program"] == sys.executable
    assert started["command"] == [
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
        *("--server.port=0", "--server.address=127.0.0.1", "--server.baseUrlPath="),
        *("--server.allowedHosts=127.0.0.1", "--server.allowedHosts=localhost"),
    ]
    assert started["environment"] == os.environ | {
        "MIXSCOPE_STATISTICS": "statistics",
        "MIXSCOPE_READ_ONLY": "1",
    }


@pytest.mark.parametrize("prefix", ["/mixscope", "mixscope/", "/mixscope/"])
def test_a_prefix_needs_no_slashes(folder, started, prefix):
    serve(folder, port=0, prefix=prefix)
    assert "--server.baseUrlPath=mixscope" in started["command"]


@pytest.mark.parametrize(
    ("host", "names", "hosts"),
    [
        ("0.0.0.0", ["stats.example.org", "stats"], ["stats.example.org", "stats"]),
        ("localhost", ["stats.example.org"], ["stats.example.org"]),
    ],
)
def test_readers_come_by_the_names_that_are_given(folder, started, host, names, hosts):
    serve(folder, port=0, host=host, name=names)
    allowed = [word for word in started["command"] if word.startswith("--server.allowedHosts=")]
    assert [word.partition("=")[2] for word in allowed] == ["127.0.0.1", "localhost", *hosts]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"folder": Path("nowhere")},
            "There is no folder nowhere. Give the one that holds .duckdb files.",
        ),
        (
            {"folder": Path("statistics/mine.duckdb")},
            "There is no folder statistics/mine.duckdb. Give the one that holds .duckdb files.",
        ),
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
    with pytest.raises(UserError) as refused:
        serve(**({"folder": folder, "port": 0} | options))
    assert str(refused.value) == message
    assert not started


def test_a_port_that_is_taken_is_told(folder, started):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=rf"^Port {port} of 127\.0\.0\.1 cannot be served: .+ "):
            serve(folder, port=port)
    assert not started


def test_an_installation_without_the_dashboard_is_told(folder, started, monkeypatch):
    monkeypatch.setattr(module, "_APP", Path("elsewhere") / "app.py")
    with pytest.raises(UserError) as refused:
        serve(folder)
    assert str(refused.value) == (
        "This installation has no dashboard: `pip install -e .` in a checkout."
    )
    assert not started


def test_a_file_is_opened_for_this_machine_alone(folder, started, capsys):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "a b&c.duckdb").touch()
    open_file(folder / "a b&c.duckdb", port=port)
    assert capsys.readouterr().out == f"http://127.0.0.1:{port}/?file=a+b%26c.duckdb\n"
    assert started["command"] == [
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
        *(f"--server.port={port}", "--server.address=127.0.0.1"),
    ]
    assert started["environment"] == os.environ | {"MIXSCOPE_STATISTICS": "statistics"}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "statistics/none.duckdb",
            "There is no file statistics/none.duckdb. `mixscope run` and `mixscope demo` make "
            "some.",
        ),
        (
            "statistics",
            "There is no file statistics. `mixscope run` and `mixscope demo` make some.",
        ),
        ("a.db", "a.db does not end in .duckdb, so the dashboard would not find it."),
    ],
)
def test_what_cannot_be_opened_is_refused_in_one_line(folder, started, file, message):
    Path("a.db").touch()
    with pytest.raises(UserError) as refused:
        open_file(Path(file))
    assert str(refused.value) == message
    assert not started
