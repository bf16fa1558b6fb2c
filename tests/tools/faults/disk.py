"""Disks that are full, and folders that may only be read."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from tests.tools.faults.phases import at
from tests.tools.faults.process import Happening
from tests.tools.faults.scene import Scene

_SIZE = 64 * 2**20
_BALLAST = "ballast"


def full(phase: str, scene: Scene, chance: Random) -> str:
    """Fill the disk when a phase starts."""
    left = int(4096 * 2 ** chance.uniform(0, 9))
    with scene.trial() as folder, _mounted(folder):
        ended = scene.run(folder, partial(at, phase, partial(_fill, folder, left)))
        (folder / _BALLAST).unlink(missing_ok=True)
        scene.assert_goes_on(folder)
        return ended.manner


def small_files(phase: str, scene: Scene, chance: Random) -> str:
    """A limit on the size of files, from the start of a phase on."""
    most = int(1024 * 2 ** chance.uniform(0, 10))
    with scene.trial() as folder:
        ended = scene.run(folder, partial(at, phase, partial(_limit_files, most)))
        scene.assert_goes_on(folder)
        return ended.manner


def read_only(phase: str, scene: Scene, chance: Random) -> str:
    """A folder that may only be read from the start of a phase on."""
    with scene.trial() as folder, _mounted(folder):
        ended = scene.run(folder, partial(at, phase, partial(_remount, folder, "ro")))
        _remount(folder, "rw")
        scene.assert_goes_on(folder)
        return ended.manner


def removed(phase: str, scene: Scene, chance: Random) -> str:
    """Delete everything in the folder but the corpus when a phase starts."""
    with scene.trial() as folder:
        ended = scene.run(folder, partial(at, phase, _emptied(folder)))
        scene.assert_goes_on(folder)
        return ended.manner


def may_mount() -> bool:
    """Return True if this process may mount disks."""
    return (
        os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0
    )


def _emptied(folder: Path) -> Happening:
    return partial(subprocess.run, ["rm", "-rf", str(folder / ".shards")], check=True)


@contextmanager
def _mounted(folder: Path) -> Iterator[None]:
    """Mount a small disk over a folder, with the folder's content."""
    corpus = (folder / "text.txt").read_bytes()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "faults", folder], check=True)
    try:
        (folder / "text.txt").write_bytes(corpus)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def _remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", folder], check=True)


def _fill(folder: Path, left: int) -> None:
    """Write until nothing is left, and give so many bytes back."""
    path = folder / _BALLAST
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(2**20)):
                pass
        except OSError:
            file.truncate(max(0, file.tell() - left))


def _limit_files(most: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
