"""Events of a run add up to an account, which lines, bars and the last line show."""

import io
from pathlib import Path

import pytest

from precompute import progress
from precompute.jobs import runner
from precompute.jobs.runner import run_local
from precompute.progress import (
    Account,
    Begun,
    Event,
    Finished,
    Lines,
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


JOBS = Begun("sequences", total=12, found=4, work=50.0)
"""Two jobs of unlike cost: the second has as many sequences, four times as dear."""
FIRST, SECOND = Finished(4, 10.0, 3000), Finished(4, 40.0, 5000)


def test_the_time_left_follows_from_what_jobs_cost_and_not_from_their_number(clock):
    account = Account(clock=clock)
    account.receive(JOBS)
    clock.now = 3.0
    assert (account.done, account.seconds_left) == (4, None)
    account.receive(FIRST)
    assert (account.done, account.seconds_left) == (8, 12.0)
    assert account.kept == "8 of 12 sequences"
    account.receive(SECOND)
    assert (account.done, account.seconds_left) == (12, 0.0)


@pytest.mark.parametrize(("workers", "expected"), [(1, 12.0), (2, None)])
def test_the_time_left_is_unknown_before_each_worker_has_done_a_job(clock, workers, expected):
    account = Account(workers, clock)
    account.receive(JOBS)
    clock.now = 3.0
    account.receive(FIRST)
    assert account.seconds_left == expected
    assert bool(account.expected) == (expected is not None)


def test_the_first_job_says_what_all_will_cost(clock):
    account = Account(clock=clock)
    account.receive(JOBS)
    assert account.expected is None
    clock.now = 30.0
    account.receive(FIRST)
    assert account.expected == (
        "By the first jobs, the sequences take about 2 min 0 s more and 9.0 kB of shards in all; "
        "tables and the file come on top."
    )
    account.receive(SECOND)
    assert account.expected is None


def test_what_stages_leave_is_kept(clock):
    account = Account(clock=clock)
    for event in (Begun("weights", 2, 2), JOBS, FIRST, Begun("tables", 5)):
        account.receive(event)
    assert account.kept == "2 of 2 tables of weights, 8 of 12 sequences, 0 of 5 tables"


def test_stages_that_come_again_add_up(clock):
    account = Account(clock=clock)
    for stage in ("sequences", "tables", "sequences", "file"):
        account.receive(Begun(stage))
        clock.now += 2
    account.receive(Made(Path("a.duckdb"), 1, 2, 3))
    assert account.seconds_of == {"model": 0, "sequences": 4, "tables": 2, "file": 2}


def test_lines_come_with_each_stage_and_at_most_every_ten_seconds(clock, capsys):
    account = Account(clock=clock)
    lines = Lines(account, clock)
    account.receive(JOBS)
    lines.begin()
    for clock.now in (9.9, 10.0):
        lines.look()
    account.receive(FIRST)
    for clock.now in (19.9, 20.0):
        lines.look()
    assert capsys.readouterr().out.splitlines() == [
        "sequences: 4 of 12 found done",
        "sequences: 4 of 12, 10 s so far",
        "sequences: 8 of 12, 20 s so far, 1 min 20 s left",
    ]


@pytest.mark.parametrize(
    ("stage", "begun", "state"),
    [
        (Begun("model"), "model", "0 s so far"),
        (Begun("corpus", found=7), "corpus: 7 found done", "7, 0 s so far"),
        (Begun("tables", 5), "tables", "0 of 5, 0 s so far"),
    ],
)
def test_what_is_found_done_is_said_as_a_stage_begins(clock, stage, begun, state):
    account = Account(clock=clock)
    account.receive(stage)
    assert (account.begun, account.state) == (begun, state)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7260, "2 h 1 min")],
)
def test_times_have_their_two_largest_units(seconds, expected):
    assert duration(seconds) == expected


def test_the_last_line_says_what_was_made_how_long_it_took_and_where_to_look(
    clock, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_APP", tmp_path / "app.py")
    account = Account(clock=clock)
    account.receive(Begun("sequences"))
    clock.now = 61
    account.receive(made := Made(tmp_path / "statistics" / "a b.duckdb", 3, 40, 5))
    said = "3 sequences, 40 tokens, 5 statistics in 1 min 1 s (sequences 1 min 1 s). Look: "
    address = "streamlit run app.py, http://127.0.0.1:8501/?file=a%20b.duckdb"
    assert made_line(made, account) == f"statistics/a b.duckdb: {said}{address}"
    elsewhere = Made(tmp_path / "a b.duckdb", 3, 40, 5)
    assert made_line(elsewhere, account) == f"a b.duckdb: {said}MIXSCOPE_STATISTICS=. {address}"


def test_a_run_tells_of_every_job_and_of_what_it_finds_done(tmp_path):
    asked, events = request(tmp_path, statistics=["token_norm"]), list[Event]()
    run(asked, run_local, events.append)
    jobs = [event for event in events if isinstance(event, Finished) and event.work]
    [begun] = [event for event in events if isinstance(event, Begun) and event.work]
    assert sum(job.work for job in jobs) == begun.work
    assert sum(job.size for job in jobs) == begun.total
    assert all(job.n_bytes for job in jobs)
    assert isinstance(events[-1], Made)
    again = list[Event]()
    run(asked, run_local, again.append)
    found = {event.stage: event for event in again if isinstance(event, Begun)}
    assert [found[stage].found for stage in ("corpus", "sequences", "tables")] == [3, 3, 2]
    assert not [event for event in again if isinstance(event, Finished) and event.work]


def test_a_job_is_finished_once_its_shards_are_written(tmp_path, monkeypatch):
    asked, events = request(tmp_path, statistics=["token_norm"]), list[object]()
    write = runner.finish_shard
    monkeypatch.setattr(runner, "finish_shard", lambda *a: (write(*a), events.append("written")))
    run(asked, run_local, events.append)
    begun = next(n for n, event in enumerate(events) if getattr(event, "stage", "") == "sequences")
    assert events[begun + 1 : begun + 3] == ["written"] * 2
    assert isinstance(events[begun + 3], Finished)


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
    for said in ("sequences: 4 of 12 found done", "8 of 12, 0 s so far, 0 s left", "By the first"):
        assert said in terminal.getvalue()
