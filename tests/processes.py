"""Processes of a run, from /proc (Linux only), and how they end after a signal."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from precompute.request import Request

_STOPPED = re.compile(r"Stopped\.( Kept in .*\.)? Go on: .+\n")
_PATIENCE = 300.0  # seconds


def command_of(asked: Request, *more: str) -> list[str]:
    """Command line of a run of short texts on the processor."""
    command = [sys.executable, "-m", "precompute", "run", "--model", asked.model, "--corpus"]
    command += [str(asked.corpus), "--output", str(asked.output), "--max-tokens", "36"]
    return [*command, "--device", "cpu", "--statistics", ",".join(asked.statistics or ()), *more]


def workers_of(process: int) -> set[int]:
    """Worker processes of a run: grandchildren, forked from a child that only imports."""
    return {worker for child in children(process) for worker in children(child)}


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


def hear_ctrl_c() -> None:
    """Hear SIGINT as in a terminal; a shell ignores it for background commands."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def wait_for_handler(run: subprocess.Popen[str]) -> None:
    """Wait until a run handles SIGTERM itself, soon after Python has started."""
    status = Path(f"/proc/{run.pid}/status")
    while run.poll() is None:
        caught = status.read_text().partition("SigCgt:")[2].split()[0]
        if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)
    raise AssertionError("ended before it could be stopped")


def assert_stopped(run: subprocess.Popen[str], number: signal.Signals) -> str:
    """Outcome of a run after a signal: killed, stopped with one line, or done before.

    Raises:
        AssertionError: with another status or other lines, or a process of it goes on.
    """
    try:
        messages = run.communicate(timeout=_PATIENCE)[1]
    except subprocess.TimeoutExpired as error:
        raise AssertionError("it, or a process of it, goes on") from error
    is_killed = number == signal.SIGKILL and run.returncode == -number
    is_stopped = run.returncode == 128 + number and _STOPPED.fullmatch(messages)
    if not is_killed and not is_stopped and (run.returncode, messages) != (0, ""):
        raise AssertionError(f"ended with status {run.returncode} and said:\n{messages[-3000:]}")
    deadline = time.monotonic() + _PATIENCE
    while _is_there(run.pid):
        if time.monotonic() > deadline:
            raise AssertionError("a process of it goes on")
        time.sleep(0.01)
    if is_killed:
        return "killed"
    return "stopped in one line" if run.returncode else "done all the same"


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
