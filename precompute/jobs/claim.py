"""Claims on an output: one run at a time, or several runs of the same request."""

import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from analysis.errors import UserError
from precompute import SHARDS
from precompute.jobs.shards import UNFINISHED

_PAUSE = 0.01  # seconds until claims are looked at again after two runs began at once
_NAMED = re.compile(r"\.(?P<asked>[0-9a-f]{16})-(?P<process>[0-9]+)-[0-9a-f]+\.claim$")


@contextmanager
def claimed(output: Path, asked: str) -> Iterator[Callable[[], None]]:
    """Hold the output until the run ends, however it ends: its lock goes with the process.

    Runs of the same request compute together and write the same file. With different requests the
    last run would replace the file of the first.

    Yields:
        A function that raises UserError if the claim is lost, as when its file was removed by hand.

    Raises:
        UserError: while a run of another request lives.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    request = hashlib.sha256(asked.encode(errors="surrogateescape")).hexdigest()[:16]
    token = f"{request}-{os.getpid()}-{secrets.token_hex(4)}"
    held = FileLock(output.with_name(f".{output.name}.{token}.claim"))
    _claim(held, output, request)

    def assert_held() -> None:
        if not Path(held.lock_file).exists():
            raise UserError(
                f"{held.lock_file} was removed while this run computed {output}, so that another "
                "run may write the same file. Nothing was replaced. Rerun the command to resume."
            )

    try:
        yield assert_held
    finally:
        _remove(held)


def _claim(held: BaseFileLock, output: Path, request: str) -> None:
    """Take the lock, and keep it if no run of another request lives.

    Every run claims before it looks, so that of two at once neither can miss the other.
    """
    while True:
        held.acquire()
        if _rival(output, request) is None:
            return
        _remove(held)
        time.sleep(_PAUSE)
        if (process := _rival(output, request)) is not None:
            raise UserError(
                f"A run with other settings or statistics, begun by process {process}, is "
                f"computing {output}, and the later file would replace the other. Wait until it "
                "has ended and rerun the command, which then adds to its file, or give another "
                "--output."
            )


def _rival(output: Path, request: str) -> str | None:
    """Return the process of a living run of another request, and remove claims of ended ones."""
    for path in output.parent.iterdir():
        name = path.name.removeprefix(f".{output.name}")
        claim = _NAMED.fullmatch(name) if name != path.name else None
        if claim and claim["asked"] != request and _lives(path):
            return claim["process"]
    return None


def _lives(path: Path) -> bool:
    """Return whether a process holds a claim; remove a claim that nobody holds."""
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    _remove(lock)
    return False


def _remove(lock: BaseFileLock) -> None:
    """Remove a lock's file while it is held, so that nobody else can hold what has no name."""
    with suppress(PermissionError):  # of Windows, where the release removes the file
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()


def remove_unfinished(folder: Path) -> None:
    """Delete what killed runs left half-written, unless another run in the folder lives."""
    if sum(map(_lives, [*folder.glob(".*.claim")])) > 1:  # this run's own is one
        return
    pattern, ours = f".*{UNFINISHED}*", f"-{os.getpid()}{UNFINISHED}"
    for left_over in [*folder.glob(pattern), *(folder / SHARDS).rglob(pattern)]:
        if ours not in left_over.name:
            with suppress(FileNotFoundError):
                shutil.rmtree(left_over) if left_over.is_dir() else left_over.unlink()
