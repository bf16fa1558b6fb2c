"""The processes of a run, found in /proc: Linux alone has it."""

from pathlib import Path


def workers_of(process: int) -> set[int]:
    """They are forked from a child of it that has imported and done nothing else."""
    return {worker for child in children(process) for worker in children(child)}


def is_running(process: int) -> bool:
    """Whether it has not ended, waited for or not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def command_line(process: int) -> bytes:
    """What it was started with; nothing once it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def children(process: int) -> set[int]:
    """The processes that it has started."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return set()
    return {int(number) for number in listed.split()}
