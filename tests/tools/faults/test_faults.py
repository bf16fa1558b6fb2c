"""A few mishaps of each kind: no number changes, nothing is lost, and one line says why."""

import os
import signal
import subprocess
from contextlib import suppress
from functools import partial
from random import Random

import pytest

from analysis.errors import UserError
from pages.ui.contents import PAGES
from tests.tools.faults import changes, damage, disk, interrupts, kills
from tests.tools.faults.__main__ import FULL, Mishap, kinds, runs
from tests.tools.faults.hostile import inputs, strange_charts
from tests.tools.faults.phases import PHASES
from tests.tools.faults.process import Ended, Wrong
from tests.tools.faults.scene import OUTPUT, Scene, assert_same, assert_whole, new_scene, numbers

pytestmark = pytest.mark.slow

HERE: dict[str, Mishap] = {
    "killed while merging": partial(kills.in_phase, "merging"),
    "no file may be large while publishing": partial(disk.small_files, "publishing"),
    "parts deleted while merging": partial(disk.removed, "merging"),
    "output replaced while publishing": partial(changes.output, "publishing"),
    "three parts damaged": damage.of_parts,
}
"""One that kills, one that refuses, one that takes away, one that is in the way and one that lies;
`make faults` does all, in every phase."""
DAMAGED = 12
CHANGED = 10


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Scene:
    return new_scene(tmp_path_factory.mktemp("scene"))


@pytest.mark.parametrize("event", HERE)
def test_a_mishap_changes_no_number(event, scene):
    assert HERE[event](scene, Random(event))


def test_a_damaged_file_is_found_or_its_numbers_are_the_same(scene):
    ended = [damage.of_the_file(scene, Random(number)) for number in range(DAMAGED)]
    assert "found by check" in ended


def test_there_is_a_mishap_of_every_kind_for_every_phase():
    names = runs(may_mount=True)
    assert set(HERE) < set(names)
    assert {"interrupted with 2 worker(s)", "a third run with another seed"} < set(names)
    for event in ("killed", "disk full", "disk read-only", "corpus replaced", "model replaced"):
        assert {f"{event} while {phase}" for phase in PHASES} < set(names)


@pytest.mark.parametrize(
    ("status", "stderr"),
    [(1, "Traceback (most recent call last):\nKeyError: 'x'"), (1, " \n"), (-11, ""), (3, "why")],
)
def test_an_end_that_none_may_have_would_be_seen(status, stderr):
    with pytest.raises(Wrong):
        _ = Ended(status, stderr).manner


@pytest.mark.parametrize(
    "program", ["echo Aborted. >&2", "echo '{line}' >&2; sleep 60 > /dev/null 2> /dev/null &"]
)
def test_another_line_and_a_process_that_goes_on_would_be_seen(program, monkeypatch):
    monkeypatch.setattr(interrupts, "PATIENCE", 1.0)
    typed = ["sh", "-c", f"{program.replace('{line}', 'Stopped. Go on: mixscope')}\nexit 130"]
    run = subprocess.Popen(typed, stderr=subprocess.PIPE, text=True, start_new_session=True)
    with pytest.raises(Wrong, match=r"Aborted\.|goes on"):
        interrupts.assert_stopped(run, signal.SIGINT)
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


def test_other_numbers_and_half_files_would_be_seen(scene):
    with scene.trial(finished=True) as folder:
        assert_same(scene.numbers, folder)
        assert_whole(folder)
        counts = numbers(folder / OUTPUT)
        name = next(name for name, (n_rows, *_) in counts.items() if n_rows)
        with pytest.raises(Wrong):
            assert_same(counts | {name: (0, 0, 0)}, folder)
        shard = next(folder.rglob("*.parquet"))
        shard.write_bytes(shard.read_bytes()[:-1])
        with pytest.raises(Wrong):
            assert_whole(folder)


@pytest.fixture(scope="module")
def of_inputs(tmp_path_factory) -> dict[str, inputs.Kind]:
    return inputs.kinds(tmp_path_factory.mktemp("inputs"))


def test_what_was_changed_at_random_is_read_or_refused_in_one_line(of_inputs):
    for name, kind in of_inputs.items():
        ended = {kind(Random(f"{name} {number}")) for number in range(CHANGED)}
        assert ended <= {"read", "refused in one line"}


def test_a_collection_with_strange_charts_or_too_much_is_read_or_refused_in_one_line():
    for name, kind in strange_charts.kinds().items():
        if name.startswith("collections"):
            ended = {kind(Random(f"{name} {number}")) for number in range(CHANGED)}
            assert ended <= {"read", "refused in one line"}


def _crash() -> None:
    raise KeyError("x")


def _refuse_at_length() -> None:
    raise UserError("one line\nand another")


def _hold_much() -> None:
    assert len(b"x" * (2**20 * (inputs.MORE_MEMORY + 200)))


@pytest.mark.parametrize("act", [_crash, _refuse_at_length, _hold_much])
def test_a_traceback_two_lines_and_much_memory_would_be_seen(act):
    with pytest.raises(Wrong):
        inputs.outcome(act, b"")


def test_what_would_go_on_for_ever_is_seen(monkeypatch):
    def go_on() -> None:
        while True:
            pass

    monkeypatch.setattr(inputs, "SECONDS", 0.1)
    with pytest.raises(Wrong, match="still going"):
        inputs.outcome(go_on, b"")


def test_all_that_is_counted_is_tried_as_often_as_is_said(tmp_path):
    names = list(kinds(tmp_path))
    total = {start: n * sum(name.startswith(start) for name in names) for start, n in FULL.items()}
    assert total["killed"] >= 200
    assert 3 * total["three parts damaged"] >= 200
    assert total["the finished file damaged"] >= 100
    assert total["changed at random"] >= 5000
    assert total["collections"] >= 400
    assert total["addresses"] >= 500
    assert total["files"] >= 100
    assert {f"addresses of {page}" for page in PAGES} < set(names)
