"""Processes of a run, from /proc (Linux only)."""

import sys
from pathlib import Path

from precompute.request import Request


def command_of(asked: Request, *more: str) -> list[str]:
    """Command line of a run of short texts on the processor."""
    command = [sys.executable, "-m", "precompute", "run", "--model", asked.model, "--corpus"]
    command += [str(asked.corpus), "--output", str(asked.output), "--max-tokens", "36"]
    return [*command, "--device", "cpu", "--statistics", ",".join(asked.statistics or ()), *more]


def workers_of(process: int) -> set[int]:
    """Worker processes of a run: grandchildren, forked from a child that only imports."""
    return {worker for child in children(process) for worker in children(child)}


def is_running(process: int) -> bool:
    """Return True if a process has not ended; a zombie has ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def command_line(process: int) -> bytes:
    """Command line of a process; empty after its end."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def children(process: int) -> set[int]:
    """Child processes of a process."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return set()
    return {int(number) for number in listed.split()}
