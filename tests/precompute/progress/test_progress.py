"""Events of a run add up to an account, which lines, workers and the last line show."""

import io
import json
from pathlib import Path

import pytest

from precompute.jobs import runner
from precompute.jobs.runner import run_local
from precompute.jobs.workers import tell_news
from precompute.progress import account as accounts
from precompute.progress import display
from precompute.progress.account import Account
from precompute.progress.bars import bars
from precompute.progress.crew import crew_folder, events_to
from precompute.progress.display import Lines, begun_line, displayed, duration, made_line, state_of
from precompute.progress.events import (
    Advanced,
    Begun,
    Event,
    Finished,
    Key,
    Made,
)
from precompute.progress.share import sharing
from precompute.run import run
from precompute.stopping import StopLine
from tests.small_store import request


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    monkeypatch.setattr(accounts, "resident_bytes", lambda: 2**30)
    return Clock()


def _jobs() -> Begun:
    """Two jobs of unlike cost: the second has as many sequences, four times as dear."""
    sizes: dict[Key, int] = {1: 4, 2: 4}
    costs: dict[Key, float] = {1: 10.0, 2: 40.0}
    return Begun("sequences", total=12, found=4, found_shards=9, sizes=sizes, costs=costs)


def test_the_time_left_follows_from_what_jobs_cost_and_not_from_their_number(clock):
    account = Account(clock)
    account.receive(_jobs())
    assert (account.done, account.seconds_left) == (4, None)
    clock.now = 3.0
    account.receive(Advanced(1, 0.5))
    assert (account.done, account.seconds_left) == (6, 27.0)
    account.receive(Finished(1))
    assert (account.done, account.seconds_left) == (8, 12.0)
    assert account.kept == "8 of 12 sequences"


def test_what_is_under_way_is_not_kept(clock):
    account = Account(clock)
    for event in (Begun("weights", 2, 2), _jobs(), Advanced(1, 1.0), Begun("tables", 5)):
        account.receive(event)
    assert account.kept == "2 of 2 tables of weights, 4 of 12 sequences, 0 of 5 tables"


def test_stages_that_come_again_add_up(clock):
    account = Account(clock)
    for stage in ("sequences", "tables", "sequences", "file"):
        account.receive(Begun(stage))
        clock.now += 2
    account.receive(Made(Path("a.duckdb"), 1, 2, 3))
    assert account.seconds_of == {"model": 0, "sequences": 4, "tables": 2, "file": 2}


def test_layers_count_alike_and_tables_by_what_they_cost_before(clock):
    shares = list[float]()
    watch, _ = sharing(n_tables=2, n_layers=2, on_share=shares.append, clock=clock)
    for seconds in (1, 3, 1, 3, 0, 0):  # two tables of two layers, and their rows
        with watch("any"):
            clock.now += seconds
    assert shares == pytest.approx([0, 0, 1.25 / 3, 2 / 3, 2.25 / 3, 1])


def test_texts_that_are_run_again_count_as_so_many_layers(clock):
    shares = list[float]()
    watch, on_again = sharing(n_tables=1, n_layers=2, on_share=shares.append, again=5, clock=clock)
    for _ in range(2):
        with watch("any"):
            clock.now += 1
    with watch("any"):  # its rows, for which texts are run again
        for share in (0.2, 1.0):
            on_again(share)
    assert shares == pytest.approx([0, 2 / 8, 3 / 8, 7 / 8, 1])


def test_lines_come_with_each_stage_and_at_most_every_ten_seconds(clock, capsys):
    account = Account(clock)
    lines = Lines(account, clock)
    account.receive(_jobs())
    lines.begin(_jobs())
    account.receive(Advanced(2, 0.25))
    for clock.now in (9.9, 10.0, 19.9, 20.0):
        lines.look()
    assert capsys.readouterr().out.splitlines() == [
        "sequences: 4 of 12 found done (9 shards)",
        "sequences: 5 of 12, 10 s so far, 40 s left, 1.00 GiB",
        "sequences: 5 of 12, 20 s so far, 1 min 20 s left, 1.00 GiB",
    ]


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (Begun("model"), "model"),
        (Begun("corpus", found=7), "corpus: 7 sequences found done"),
        (Begun("tables", 5), "tables: 0 of 5"),
        (Begun("sequences", 5, 0, 3), "sequences: 0 of 5 found done (3 shards)"),
    ],
)
def test_what_is_found_done_is_said_as_a_stage_begins(stage, expected):
    assert begun_line(stage) == expected


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
    monkeypatch.setattr(display, "_APP", tmp_path / "app.py")
    account = Account(clock)
    account.receive(Begun("sequences"))
    clock.now = 61
    account.receive(made := Made(tmp_path / "statistics" / "a b.duckdb", 3, 40, 5))
    said = "3 sequences, 40 tokens, 5 statistics in 1 min 1 s (sequences 1 min 1 s). Look: "
    address = "streamlit run app.py, http://127.0.0.1:8501/?file=a%20b.duckdb"
    assert made_line(made, account) == f"statistics/a b.duckdb: {said}{address}"
    elsewhere = Made(tmp_path / "a b.duckdb", 3, 40, 5)
    assert made_line(elsewhere, account) == f"a b.duckdb: {said}MIXSCOPE_STATISTICS=. {address}"


def test_workers_tell_of_the_jobs_that_run_and_of_their_memory(clock, tmp_path, monkeypatch):
    account = Account(clock)
    account.receive(_jobs())
    with crew_folder(tmp_path) as crew:
        write = events_to(crew, clock)
        write(Advanced(1, 0.25))
        write(Advanced(1, 0.5))  # too soon
        tell_news(crew, account.receive, [2])
        assert account.done == 4
        tell_news(crew, account.receive, [1])
        assert (account.done, account.memory) == (5, 2**30 + _resident(crew))
        clock.now = 1.0
        write(Advanced(1, 0.5))
        (crew / "torn.json").write_text('{"job": 1')
        tell_news(crew, account.receive, [1])
        assert account.done == 6
    write(Advanced(1, 0.75))  # after the end
    assert not list(tmp_path.iterdir())


def _resident(crew: Path) -> int:
    return json.loads(next(crew.glob("*.json")).read_text())["memory"]


def test_a_run_tells_of_sequences_within_a_job_and_of_what_it_finds_done(tmp_path):
    asked, events = request(tmp_path, statistics=["token_norm"]), list[Event]()
    run(asked, run_local, events.append)
    shares = [event.share for event in events if isinstance(event, Advanced) and event.job == 0]
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)
    assert isinstance(events[-1], Made)
    again = list[Event]()
    run(asked, run_local, again.append)
    found = {event.stage: event for event in again if isinstance(event, Begun)}
    assert [found[stage].found for stage in ("corpus", "sequences", "tables")] == [3, 3, 2]
    assert found["sequences"].found_shards == 2
    assert not [event for event in again if isinstance(event, Advanced)]


def test_a_job_is_finished_once_its_shards_are_written(tmp_path, monkeypatch):
    asked, events = request(tmp_path, statistics=["token_norm"]), list[object]()
    write = runner._write
    monkeypatch.setattr(runner, "_write", lambda *a: (write(*a), events.append("written")))
    run(asked, run_local, events.append)
    assert events.index("written") < events.index(Finished(0))


def test_a_terminal_gets_bars_and_a_stopped_run_leaves_it_as_it_was(monkeypatch, tmp_path):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", terminal)
    stop = StopLine()
    with displayed(tmp_path / "a.duckdb", stop) as tell:
        tell(_jobs())
        assert stop.kept() == f"Kept in {tmp_path / '.shards'}: 4 of 12 sequences."
        assert terminal.getvalue().endswith("\x1b[?25h"), "the cursor is shown again"
    assert "sequences: 4 of 12 found done (9 shards)" in terminal.getvalue()


def test_bars_show_what_lines_say(clock, monkeypatch):
    account = Account(clock)
    with bars(account) as shown:
        account.receive(_jobs())
        shown.begin(_jobs())
        shown.look()
        task = shown._progress.tasks[-1]
        assert (task.description, task.completed, task.total) == ("sequences", 4, 12)
        assert task.fields["state"] == state_of(account)
