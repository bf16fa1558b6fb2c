"""Events of a run add up to an account, which lines, bars, the last line and notes show."""

import io
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.services import note
from pages.services.note import Note, note_beside
from precompute import progress
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
from precompute.stopping import StopLine
from tests.small_store import request


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def account(clock) -> Account:
    return Account(clock=clock)


JOBS = Begun("sequences", total=12, found=4, work=50.0)
"""Two jobs of unlike cost: the second has as many sequences, four times as dear."""
FIRST, SECOND = Finished(4, 10.0, 3000), Finished(4, 40.0, 5000)


def test_the_time_left_and_the_bytes_follow_from_what_jobs_cost_and_not_from_their_number(
    clock, account
):
    account.receive(Begun("weights", 2, 2))
    account.receive(JOBS)
    assert (account.done, account.seconds_left, account.expected) == (4, None, None)
    clock.now = 30.0
    account.receive(FIRST)
    assert (account.done, account.seconds_left) == (8, 120.0)
    assert account.expected == (
        "By the first jobs, the sequences take about 2 min 0 s more and 9.0 kB of shards in all; "
        "tables and the file come on top."
    )
    assert account.kept == "2 of 2 tables of weights, 8 of 12 sequences"
    account.receive(SECOND)
    assert (account.done, account.seconds_left, account.expected) == (12, 0.0, None)


def test_stages_that_come_again_add_up_to_what_the_last_line_says(
    clock, account, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_APP", tmp_path / "app.py")
    stages = Begun("sequences"), Begun("tables"), Begun("sequences"), Begun("file")
    for stage, seconds in zip(stages, (60, 2, 1, 2), strict=True):
        account.receive(stage)
        clock.now += seconds
    account.receive(made := Made(tmp_path / "statistics" / "a b.duckdb", 3, 40, 5))
    assert account.seconds_of == {"model": 0, "sequences": 61, "tables": 2, "file": 2}
    said = "3 sequences, 40 tokens, 5 statistics in 1 min 5 s (sequences 1 min 1 s"
    line, elsewhere = (
        made_line(file, account) for file in (made, Made(tmp_path / "a b.duckdb", 3, 40, 5))
    )
    address = "streamlit run app.py, http://127.0.0.1:8501/?file=a%20b.duckdb"
    assert line.startswith(f"statistics/a b.duckdb: {said}")
    assert line.endswith(f" Look: {address}")
    assert elsewhere.startswith(f"a b.duckdb: {said}")
    assert elsewhere.endswith(f" Look: MIXSCOPE_STATISTICS=. {address}")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7260, "2 h 1 min")],
)
def test_times_have_their_two_largest_units(seconds, expected):
    assert duration(seconds) == expected


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
    assert not [event for event in again if isinstance(event, Finished) and event.work]


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
        found = _first_note(output, "sequences", 6)
        assert (found.total, found.process) == (8, os.getpid())
        assert found.seconds_left is not None
        tell(Begun("file"))
        assert _first_note(output, "file", 0).seconds_left is None
    assert list(tmp_path.iterdir()) == []


def _first_note(output: Path, stage: str, done: int) -> Note:
    """Wait for a note of a stage."""
    for _ in range(6000):
        found = note_beside(output)
        if found and (found.stage, found.done) == (stage, done):
            return found
        time.sleep(0.01)
    raise AssertionError


def test_a_run_that_fails_leaves_no_note(tmp_path):
    def fail():
        with displayed(tmp_path / "a[1].duckdb"):
            _note(tmp_path, SOME)
            seen.extend(note_beside(tmp_path / name) for name in ("a[1].duckdb", "a1.duckdb"))
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen == [SOME, None]
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
    "content",
    ["", "[]", '{"done": 1}', '{"of": "another version"}', "1", "null"]
    + [
        json.dumps(asdict(SOME) | {"process": process})
        for process in (10**30, "1", None, -(10**30))
    ],
)
def test_what_is_no_note_or_of_no_process_is_passed_over(tmp_path, content):
    assert note_beside(_note(tmp_path, content)) is None
