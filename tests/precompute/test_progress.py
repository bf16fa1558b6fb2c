"""Progress of a run, and `mixscope serve` and `open`: what is said, started and refused."""

import io
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest

from analysis.errors import UserError
from pages.services import note
from pages.services.note import Note, note_beside
from precompute import progress
from precompute import serve as module
from precompute.jobs import runner
from precompute.jobs.runner import run_local
from precompute.jobs.shards import unfinished_name
from precompute.progress import (
    Account,
    Begun,
    Event,
    Finished,
    Made,
    displayed,
    duration,
    made_line,
)
from precompute.run import run
from precompute.serve import open_file, serve
from precompute.stopping import StopLine
from tests.refusals import refused
from tests.small_store import request

JOBS = Begun("sequences", total=12, found=4, work=50.0)
"""Two jobs of unlike cost: the second has as many sequences, four times as dear."""
FIRST, SECOND = Finished(4, 10.0, 3000), Finished(4, 40.0, 5000)


def test_the_time_left_and_the_bytes_follow_from_what_jobs_cost_and_not_from_their_number():
    account = Account(clock=(clock := Mock(return_value=0.0)))
    account.receive(Begun("weights", 2, 2))
    account.receive(JOBS)
    assert (account.done, account.seconds_left, account.expected) == (4, None, None)
    clock.return_value = 30.0
    account.receive(FIRST)
    assert (account.done, account.seconds_left) == (8, 120.0)
    assert account.expected == (
        "By the first jobs, the sequences take about 2 min 0 s more and 9.0 kB of shards in all; "
        "tables and the file come on top."
    )
    assert account.kept == "2 of 2 tables of weights, 8 of 12 sequences"
    account.receive(SECOND)
    assert (account.done, account.seconds_left, account.expected) == (12, 0.0, None)


def test_stages_that_come_again_add_up_to_what_the_last_line_says(monkeypatch, tmp_path):
    account = Account(clock=(clock := Mock(return_value=0.0)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_APP", tmp_path / "app.py")
    stages = Begun("sequences"), Begun("tables"), Begun("sequences"), Begun("file")
    for stage, seconds in zip(stages, (60, 2, 1, 2), strict=True):
        account.receive(stage)
        clock.return_value += seconds
    account.receive(made := Made(tmp_path / "statistics" / "a b.duckdb", 3, 40, 5))
    assert account.seconds_of == {"model": 0, "sequences": 61, "tables": 2, "file": 2}
    said = "a b.duckdb: 3 sequences, 40 tokens, 5 statistics in 1 min 5 s (sequences 1 min 1 s"
    look = "streamlit run app.py, http://127.0.0.1:8501/?file=a%20b.duckdb"
    line = made_line(made, account)
    assert said in line
    assert line.endswith(f" Look: {look}")
    said = [duration(seconds) for seconds in (0.4, 59.6, 3599, 7260)]
    assert said == ["0 s", "1 min 0 s", "59 min 59 s", "2 h 1 min"]


def test_a_run_tells_of_every_job_once_its_shards_are_written_and_of_what_it_finds_done(
    tmp_path, monkeypatch
):
    asked, events = request(tmp_path, statistics=["token_norm"]), list[Event | str]()
    write = runner.finish_shard
    monkeypatch.setattr(runner, "finish_shard", lambda *a: (write(*a), events.append("written")))
    run(asked, run_local, events.append)
    place = next(n for n, event in enumerate(events) if getattr(event, "stage", "") == "sequences")
    begun, *written, job = events[place : place + 4]
    assert written == ["written"] * 2
    assert isinstance(begun, Begun)
    assert isinstance(job, Finished)
    assert (job.work, job.size, bool(job.n_bytes)) == (begun.work, begun.total, True)
    assert isinstance(events[-1], Made)
    again = list[Event]()
    run(asked, run_local, again.append)
    found = {event.stage: event for event in again if isinstance(event, Begun)}
    assert [found[stage].found for stage in ("corpus", "sequences", "tables")] == [3, 3, 2]


def test_a_terminal_gets_bars_and_a_stopped_run_leaves_it_as_it_was(monkeypatch, tmp_path):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stderr", terminal)
    stop = StopLine()
    with displayed(tmp_path / "a.duckdb", stop) as tell:
        tell(JOBS)
        tell(FIRST)
        kept = f"Kept in {tmp_path / '.shards'}: 8 of 12 sequences."
        assert stop.kept() == kept
        assert terminal.getvalue().endswith("\x1b[?25h"), "the cursor is shown again"
    for said in ("sequences: 4 of 12 found done", "8 of 12, ", "By the first"):
        assert said in terminal.getvalue()


SOME = Note("sequences", 1, 2, 3.0, socket.gethostname(), os.getpid())


def _note(folder: Path, written: Note | str) -> Path:
    path = unfinished_name(folder / "a[1].duckdb.computing")
    content = written if isinstance(written, str) else json.dumps(asdict(written))
    path.write_text(content, encoding="utf-8")
    return folder / "a[1].duckdb"


def test_a_run_says_how_far_it_is_until_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LOOKS", 0.01)
    output = tmp_path / "a.duckdb"
    assert note_beside(output) is None
    with displayed(output) as tell:
        tell(Begun("sequences", 8, 2, 6.0))
        tell(Finished(4, 2.0))
        while not (found := note_beside(output)) or found.done < 6:
            time.sleep(0.01)
        assert (found.total, found.process) == (8, os.getpid())
        assert found.seconds_left is not None
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_leaves_no_note(tmp_path):
    with suppress(ZeroDivisionError), displayed(tmp_path / "a[1].duckdb"):
        _note(tmp_path, SOME)
        assert note_beside(tmp_path / "a[1].duckdb") == SOME
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_the_note_of_a_run_that_was_killed_counts_no_more(tmp_path, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    assert note_beside(_note(tmp_path, replace(SOME, process=dead.pid))) is None
    elsewhere = replace(SOME, process=dead.pid, machine="another")
    assert note_beside(_note(tmp_path, elsewhere)) == elsewhere
    kill = lambda *_: pytest.fail("on Windows a signal would end the process")  # noqa: E731
    monkeypatch.setattr(note, "os", SimpleNamespace(name="nt", kill=kill))
    assert note_beside(_note(tmp_path, SOME)) == SOME
    os.utime(next(tmp_path.iterdir()), (0, 0))
    assert note_beside(tmp_path / "a[1].duckdb") is None, "nobody has written to it for an hour"


@pytest.mark.parametrize(
    "content", ["", "[]", '{"done": 1}', json.dumps(asdict(SOME) | {"process": 10**30})]
)
def test_what_is_no_note_or_of_no_process_is_passed_over(tmp_path, content):
    assert note_beside(_note(tmp_path, content)) is None


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
    serve(folder, port=0, host="0.0.0.0", name=["stats.example.org"], prefix="/mixscope")
    assert started["program"] == sys.executable
    hosts = ("127.0.0.1", "localhost", "stats.example.org")
    assert started["command"] == [
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
        *("--server.port=0", "--server.address=0.0.0.0", "--server.baseUrlPath=mixscope"),
        *(f"--server.allowedHosts={host}" for host in hosts),
    ]
    here = {"MIXSCOPE_STATISTICS": "statistics", "MIXSCOPE_READ_ONLY": "1"}
    assert started["environment"] == os.environ | here


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"prefix": "/../a"},
            "The prefix '/../a' is no path of letters, digits and . _ ~ -. Give one such as "
            "/mixscope.",
        ),
        (
            {"host": "0.0.0.0"},
            "--host 0.0.0.0 serves other machines, whose readers name this one. Add the name that "
            "they type, such as --name statistics.example.org.",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(folder, started, options, message):
    assert refused(UserError, serve, **({"folder": folder, "port": 0} | options)) == message
    assert not started


def test_a_taken_port_is_told(folder, started):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = refused(UserError, serve, folder, port=port)
    assert message.startswith(f"Port {port} of 127.0.0.1 cannot be served: ")
    assert not started


def test_a_file_is_opened_for_this_machine_alone(folder, started, capsys):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "a b&c.duckdb").touch()
    open_file(folder / "a b&c.duckdb", port=port)
    assert capsys.readouterr().out == f"http://127.0.0.1:{port}/?file=a+b%26c.duckdb\n"
    assert started["command"][5:] == [f"--server.port={port}", "--server.address=127.0.0.1"]
    assert started["environment"] == os.environ | {"MIXSCOPE_STATISTICS": "statistics"}


def test_what_cannot_be_opened_is_refused_in_one_line(folder, started):
    Path("a.db").touch()
    assert refused(UserError, open_file, Path("a.db")) == (
        "a.db does not end in .duckdb, so the dashboard would not find it."
    )
    assert refused(UserError, open_file, Path("none.duckdb")) == (
        "There is no file none.duckdb. `mixscope run` and `mixscope demo` make some."
    )
    assert not started


def test_on_windows_the_dashboard_is_waited_for():
    ended_with = "import os; os._exit(int(os.environ['A']))"
    with patch.object(os, "name", "nt"), pytest.raises(SystemExit) as ended:
        module._become([sys.executable, "-c", ended_with], {"A": "3"})
    assert ended.value.code == 3
