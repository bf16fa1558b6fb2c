"""An output has one run at a time, unless another is asked for the very same."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.errors import UserError


@contextmanager
def claimed(output: Path, asked: str) -> Iterator[None]:
    """Holds the output until the run ends, however it ends: the lock goes with the process.

    Runs of the same request share what they compute and put the same file there; of others the last
    would replace the file of the first.

    Args:
        asked: all that the run was asked for, in words of any kind.

    Raises:
        UserError: while a run lives that was asked for something else.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    path = output.with_name(f".{output.name}.claim")
    held = _locked(path)
    if held is None:
        _refuse_unless_same(path, output, asked)
        yield
        return
    try:
        os.ftruncate(held, 0)
        os.pwrite(held, json.dumps({"process": os.getpid(), "asked": asked}).encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held)


def _locked(path: Path) -> int | None:
    """The file, locked for this process; None if another holds it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file
        os.close(file)  # its holder ended and removed it since it was opened


def _refuse_unless_same(path: Path, output: Path, asked: str) -> None:
    try:
        claim = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the other run begins or ends at this moment
        claim = {"process": "unknown", "asked": ""}
    if claim["asked"] != asked:
        raise UserError(
            f"Process {claim['process']} is computing {output} with other settings or "
            "statistics, and the later file would replace the other. Wait until it has ended and "
            "rerun the command, which then adds to its file, or give another --output."
        )
