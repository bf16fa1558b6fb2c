"""Progress notes of a run that is in progress, read from the file next to its output."""

import json
import os
import socket
import time
from dataclasses import dataclass
from glob import escape
from pathlib import Path

_SECONDS_TILL_STALE = 3600
STAGES = ("model", "proof", "corpus", "weights", "sequences", "tables", "file")


@dataclass(frozen=True)
class Note:
    """Progress note of a run: its stage, what is done of it and in all (0 if unknown), the seconds
    left if they are known, machine and process."""

    stage: str
    done: int
    total: int
    seconds_left: float | None
    machine: str
    process: int


def note_beside(file: Path) -> Note | None:
    """Return the note of the run that writes a file, if there is one and it is in progress."""
    for path in sorted(file.parent.glob(f".{escape(file.name)}.computing.*.unfinished")):
        try:
            note = Note(**json.loads(path.read_text(encoding="utf-8")))
            unchanged = time.time() - path.stat().st_mtime
        except (OSError, ValueError, TypeError):  # it ended just now, or is not of this version
            continue
        if note.stage not in STAGES:
            continue
        if _is_running(note, unchanged):
            return note
    return None


def _is_running(note: Note, unchanged: float) -> bool:
    """Return True if a run may be in progress; of other machines, and on Windows, age tells."""
    if note.machine != socket.gethostname() or os.name == "nt":  # where 0 would interrupt it
        return unchanged < _SECONDS_TILL_STALE
    try:
        os.kill(note.process, 0)
    except (ProcessLookupError, OverflowError, TypeError):
        return False
    except PermissionError:  # a process of another user
        return True
    return True
