"""Lock of an output: one run at a time, or several runs of the same request."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.errors import UserError

_PAUSE = 0.01  # seconds until a claim is looked at again that another run makes or removes


@contextmanager
def claimed(output: Path, asked: str) -> Iterator[Callable[[], None]]:
    """Hold the output until the run ends, however it ends: the lock goes with the process.

    Runs of the same request share the lock, compute together and write the same file. With
    different requests the last run would replace the file of the first.

    Args:
        asked: the whole request, as any text.

    Yields:
        A function that raises UserError if the lock is lost, as when its file was removed by hand.

    Raises:
        UserError: while a run of another request lives.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    path = output.with_name(f".{output.name}.claim")
    held = _shared(path, output, asked)
    try:
        yield lambda: _assert_held(held, path, output)
    finally:
        if _locked(held, fcntl.LOCK_EX):  # no other run shares it
            path.unlink(missing_ok=True)
        os.close(held)


def _shared(path: Path, output: Path, asked: str) -> int:
    """Return the lock's file, locked for this process and others with the same request."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if _locked(file, fcntl.LOCK_EX) and _is_at(file, path):
            os.ftruncate(file, 0)  # of a run that was killed
            os.pwrite(file, json.dumps({"process": os.getpid(), "asked": asked}).encode(), 0)
        if _locked(file, fcntl.LOCK_SH) and _is_at(file, path):
            claim = _read(file)
            if claim.get("asked") == asked:
                return file
            if claim:
                os.close(file)
                raise _taken(output, claim)
        os.close(file)
        time.sleep(_PAUSE)


def _locked(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: int, path: Path) -> bool:
    """Return whether the open file is still the one that bears the name."""
    return path.exists() and os.path.samestat(os.fstat(file), path.stat())


def _read(file: int) -> dict[str, Any]:
    """Return process and request from the lock's file; empty while it is being written."""
    try:
        return json.loads(os.pread(file, os.fstat(file).st_size, 0))
    except ValueError:
        return {}


def _assert_held(file: int, path: Path, output: Path) -> None:
    if not _is_at(file, path):
        raise UserError(
            f"{path} was removed while this run computed {output}, so that another run may write "
            "the same file. Nothing was replaced. Rerun the command to resume."
        )


def _taken(output: Path, claim: dict[str, Any]) -> UserError:
    return UserError(
        f"A run with other settings or statistics, begun by process {claim['process']}, is "
        f"computing {output}, and the later file would replace the other. Wait until it has ended "
        "and rerun the command, which then adds to its file, or give another --output."
    )
