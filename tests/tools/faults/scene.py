"""A tiny model, a small corpus, and the result of a run without faults."""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from precompute import SHARDS
from precompute.jobs.seal import is_intact
from tests.tiny import save_tiny
from tests.tools.faults.phases import measured, small_and_quick, together
from tests.tools.faults.process import Ended, Happening, Running, Wrong, nothing

STATISTICS = "token_type_mixing,head_distance,singular_value,mixing_ratio"
"""Sums, fits, weights and what is merged: a run with each kind of work, as short as can be."""
OUTPUT = "tiny.duckdb"
_WORDS = ["the", "cat", "sat", ",", "dog", "ran", "mat"]
_ACCOUNT = {"run", "manifest", "provenance"}  # say when and with what a file was made
Numbers = dict[str, tuple]


@dataclass(frozen=True)
class Scene:
    """Starting point of all trials; a trial has a folder of its own, and a copy of the corpus.

    Of a run without faults, `spans` are the seconds of each phase, `memory` the bytes, and
    `numbers` the numbers.
    """

    folder: Path
    spans: dict[str, float]
    memory: int
    numbers: Numbers

    @property
    def finished(self) -> Path:
        """Folder of the run without faults."""
        return self.folder / "finished"

    @contextmanager
    def trial(self, *, finished: bool = False, **folder: str) -> Iterator[Path]:
        """A folder with the corpus, and with a copy of all that a run leaves if it is finished."""
        with TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True, **folder) as place:
            if finished:
                shutil.copytree(self.finished, place, dirs_exist_ok=True)
            else:
                write_corpus(Path(place) / "text.txt")
            yield Path(place)

    def start(self, folder: Path, happening: Happening = nothing, **given: str) -> Running:
        """Start a run in a trial's folder, with a fault."""
        log = self.folder / f"log-{random.getrandbits(48)}"
        do_so = partial(together, small_and_quick, happening)
        return Running(command(self, folder, **given), log, do_so)

    def run(self, folder: Path, happening: Happening = nothing, **given: str) -> Ended:
        """Run in a trial's folder to the end, and return the outcome."""
        return self.start(folder, happening, **given).ended()

    def assert_goes_on(self, folder: Path) -> None:
        """Check that the files are complete, and that the same command gives the right numbers.

        Raises:
            Wrong: if not.
        """
        expected = self.numbers
        assert_whole(folder)
        if (folder / OUTPUT).exists():
            assert_same(expected, folder)
        again = self.run(folder)
        if again.status:
            raise Wrong(
                f"the run after it ended with status {again.status}:\n{again.stderr[-3000:]}"
            )
        assert_same(expected, folder)
        assert_whole(folder)
        if left := [path.name for path in folder.rglob("*.unfinished*")]:
            raise Wrong(f"left half-written: {left}")


def new_scene(folder: Path) -> Scene:
    """A scene in an empty folder."""
    save_tiny("bert", folder / "model")
    finished, account = folder / "finished", folder / "measured.json"
    finished.mkdir()
    write_corpus(finished / "text.txt")
    ended = Scene(folder, {}, 0, {}).run(finished, partial(measured, account))
    if ended.status:
        raise Wrong(f"a run that nobody disturbed failed:\n{ended.stderr}")
    return Scene(folder, **json.loads(account.read_text()), numbers=numbers(finished / OUTPUT))


def write_corpus(path: Path, seed: int = 0) -> None:
    """A dozen short paragraphs."""
    chance = random.Random(seed)
    texts = (" ".join(chance.choices(_WORDS, k=chance.randint(4, 12))) for _ in range(12))
    path.write_text("\n".join(f"{text} ." for text in texts), encoding="utf-8")


def numbers(file: Path) -> Numbers:
    """A count and hashes of all rows of every table, but for when they were made."""
    tables = "select table_name from duckdb_tables() where schema_name = 'stored'"
    hashes = "select count(*), bit_xor(hash(row)), sum(hash(row)) from stored.{} as row"
    with duckdb.connect(str(file), read_only=True) as store:
        names = {name for (name,) in store.execute(tables).fetchall()} - _ACCOUNT
        return {name: store.execute(hashes.format(name)).fetchall()[0] for name in sorted(names)}


def assert_same(expected: Numbers, folder: Path) -> None:
    """The file in the folder of a trial holds these numbers."""
    actual = numbers(folder / OUTPUT)
    if wrong := [name for name in expected if actual.get(name) != expected[name]]:
        raise Wrong(f"other numbers in {wrong}")


def assert_whole(folder: Path) -> None:
    """No half file bears a final name."""
    if half := [file for file in folder.joinpath(SHARDS).rglob("*.parquet") if not is_intact(file)]:
        raise Wrong(f"half files under final names: {half}")


def command(scene: Scene, folder: Path, **given: str) -> list[str]:
    """Arguments of a trial's run after `python -m precompute`."""
    options = {
        "model": str(scene.folder / "model"),
        "corpus": str(folder / "text.txt"),
        "output": str(folder / OUTPUT),
        "statistics": STATISTICS,
        "max-tokens": "36",
        "device": "cpu",
        **given,
    }
    return ["run", *(part for name, value in options.items() for part in (f"--{name}", value))]
