"""Runs that are asked to stop, as by Ctrl-C and by a scheduler."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from tests.tools.faults.kills import in_small_parts
from tests.tools.faults.process import PATIENCE, Wrong
from tests.tools.faults.scene import Scene

STOPPED = re.compile(r"Stopped\.( Kept in .*\.)? Go on: .+\n")


def interrupted(workers: int, scene: Scene, chance: Random) -> str:
    """Send Ctrl-C to all processes of a run at a random moment."""
    return _stopped(signal.SIGINT, workers, scene, chance)


def terminated(workers: int, scene: Scene, chance: Random) -> str:
    """Send SIGTERM to a run or to all of its processes at a random moment."""
    return _stopped(signal.SIGTERM, workers, scene, chance)


def _stopped(number: signal.Signals, workers: int, scene: Scene, chance: Random) -> str:
    with scene.trial() as folder:
        started = time.monotonic()
        _start(workers, scene, folder).communicate(timeout=PATIENCE)
        seconds = time.monotonic() - started
    with scene.trial() as folder:
        run = _start(workers, scene, folder)
        wait_for_handler(run)
        time.sleep(chance.uniform(0, seconds))
        is_to_all = number == signal.SIGINT or chance.random() < 0.5
        (os.killpg if is_to_all else os.kill)(run.pid, number)
        ended = assert_stopped(run, number)
        scene.assert_goes_on(folder)
        return ended


def _start(workers: int, scene: Scene, folder: Path) -> subprocess.Popen[str]:
    """A run with processes that are a group, as those of a terminal are."""
    how = {"start_new_session": True, "preexec_fn": hear_ctrl_c}
    return in_small_parts(scene, folder, workers=workers, **how)


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
    raise Wrong("ended before it could be stopped")


def assert_stopped(run: subprocess.Popen[str], number: signal.Signals) -> str:
    """Outcome of a run after a signal: it stopped with one line, or was done before.

    Raises:
        Wrong: with another status or other lines, or a process of it goes on.
    """
    try:
        messages = run.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired as error:
        raise Wrong("it, or a process of it, goes on") from error
    is_stopped = run.returncode == 128 + number and STOPPED.fullmatch(messages)
    if not is_stopped and (run.returncode, messages) != (0, ""):
        raise Wrong(f"ended with status {run.returncode} and said:\n{messages[-3000:]}")
    deadline = time.monotonic() + PATIENCE
    while _is_there(run.pid):
        if time.monotonic() > deadline:
            raise Wrong("a process of it goes on")
        time.sleep(0.01)
    return "stopped in one line" if run.returncode else "done all the same"


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
