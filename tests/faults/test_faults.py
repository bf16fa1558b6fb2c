"""A few mishaps of each kind: no number changes, nothing is lost, and one line says why."""

from functools import partial
from random import Random

import pytest

from tests.faults import changes, damage, disk, kills
from tests.faults.__main__ import Kind, kinds
from tests.faults.phases import PHASES
from tests.faults.process import Ended, Wrong
from tests.faults.scene import OUTPUT, Scene, assert_same, assert_whole, new_scene, numbers

pytestmark = pytest.mark.slow

HERE: dict[str, Kind] = {
    "killed while merging": partial(kills.in_phase, "merging"),
    "no file may be large while publishing": partial(disk.small_files, "publishing"),
    "parts deleted while merging": partial(disk.removed, "merging"),
    "output replaced while publishing": partial(changes.output, "publishing"),
    "three parts damaged": damage.of_parts,
}
"""One that kills, one that refuses, one that takes away, one that is in the way and one that lies;
`make faults` does all, in every phase."""
DAMAGED = 12


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Scene:
    return new_scene(tmp_path_factory.mktemp("scene"))


@pytest.mark.parametrize("what", HERE)
def test_a_mishap_changes_no_number(what, scene):
    assert HERE[what](scene, Random(what))


def test_a_damaged_file_is_found_or_its_numbers_are_the_same(scene):
    ended = [damage.of_the_file(scene, Random(number)) for number in range(DAMAGED)]
    assert "found by check" in ended


def test_there_is_a_mishap_of_every_kind_for_every_phase():
    names = kinds(may_mount=True)
    assert set(HERE) < set(names)
    for what in ("killed", "disk full", "disk read-only", "corpus replaced", "model replaced"):
        assert {f"{what} while {phase}" for phase in PHASES} < set(names)


@pytest.mark.parametrize(
    ("status", "said"),
    [(1, "Traceback (most recent call last):\nKeyError: 'x'"), (1, " \n"), (-11, ""), (3, "why")],
)
def test_an_end_that_none_may_have_would_be_seen(status, said):
    with pytest.raises(Wrong):
        _ = Ended(status, said).manner


def test_other_numbers_and_half_files_would_be_seen(scene):
    with scene.trial(finished=True) as folder:
        assert_same(scene.numbers, folder)
        assert_whole(folder)
        found = numbers(folder / OUTPUT)
        name = next(name for name, (n_rows, *_) in found.items() if n_rows)
        with pytest.raises(Wrong):
            assert_same(found | {name: (0, 0, 0)}, folder)
        shard = next(folder.rglob("*.parquet"))
        shard.write_bytes(shard.read_bytes()[:-1])
        with pytest.raises(Wrong):
            assert_whole(folder)
