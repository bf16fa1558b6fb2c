"""Progress notes of a run that is in progress, read from the file next to its output."""

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

STAGES = ("model", "proof", "corpus", "weights", "sequences", "tables", "file")


@dataclass(frozen=True)
class Note:
    """Progress note of a run: its stage, what is done of it and in all (0 if unknown), the seconds
    left if they are known, bytes of memory, machine and process."""

    stage: str
    done: float
    total: int
    seconds_left: float | None
    memory: int
    machine: str
    process: int


def note_beside(file: Path) -> Note | None:
    """Return the note of the run that writes a file, if there is one and it is in progress."""
    for path in sorted(file.parent.glob(f".{file.name}.computing.*.unfinished")):
        try:
            note = Note(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # it ended just now, or is not of this version
            continue
        if note.stage not in STAGES:
            continue
        if note.machine != socket.gethostname() or _is_running(note.process):
            return note
    return None


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError, TypeError):
        return False
    except PermissionError:  # a process of another user
        return True
    return True
