"""Flipped bytes and truncated files among a run's results."""

from pathlib import Path
from random import Random

import duckdb

from precompute import SHARDS
from precompute.jobs.seal import is_intact
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.tools.faults.process import Wrong
from tests.tools.faults.scene import OUTPUT, Scene, numbers


def of_parts(scene: Scene, chance: Random) -> str:
    """Some shard, table or part of the corpus, and the file is made again."""
    with scene.trial(finished=True) as folder:
        (folder / OUTPUT).unlink()
        parts = sorted(path for path in (folder / SHARDS).rglob("*") if path.is_file())
        for path in chance.sample(parts, 3):
            before = path.read_bytes()
            change = _damage(path, chance)
            while path.read_bytes() == before:
                change = _damage(path, chance)
            if path.suffix == ".parquet" and is_intact(path):
                raise Wrong(f"taken for whole: {change}")
        ended = scene.run(folder)
        if ended.manner != "done all the same":
            raise Wrong(f"a damaged part is not made again: {ended.stderr}")
        scene.assert_goes_on(folder)
        return "made again"


def of_the_file(scene: Scene, chance: Random) -> str:
    """The finished file: `check` says so, or no number is another."""
    with scene.trial(finished=True) as folder:
        path = folder / OUTPUT
        change = _damage(path, chance)
        if list(faults(path, every_table())):
            return "found by check"
        try:
            actual = numbers(path)
        except duckdb.Error as error:
            raise Wrong(f"check is content with a file that cannot be read: {error}") from error
        if actual != scene.numbers:
            raise Wrong(f"check is content with other numbers: {change}")
        return "nothing that is read was hit"


def _damage(path: Path, chance: Random) -> str:
    """Flip bits of one byte or of a run of bytes, or cut the file; return a description."""
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content))
    kind = chance.choice(("flip", "flip", "noise", "cut"))
    if kind == "flip":
        content[place] ^= chance.randrange(1, 256)
    elif kind == "noise":
        length = min(len(content) - place, chance.randrange(1, 5000))
        content[place : place + length] = chance.randbytes(length)
    else:
        del content[place:]
    path.write_bytes(content)
    return f"{kind} at byte {place} of {path.name}"
