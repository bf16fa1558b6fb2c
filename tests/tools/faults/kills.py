"""Runs and workers that are killed."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.processes import is_running, workers_of
from tests.tools.faults.phases import at, killed_after, killed_at_name
from tests.tools.faults.process import PATIENCE, Ended, Wrong
from tests.tools.faults.scene import OUTPUT, STATISTICS, Scene, command

ROOT = Path(__file__).parents[3]
_IN_SMALL_PARTS = """
from precompute.stopping import stoppable

def command(stop_line):
    from precompute.command_line import run_command
    from tests.tools.faults.phases import small_and_quick
    small_and_quick()
    run_command(stop_line)

if __name__ == "__main__":
    stoppable(command)
"""
"""A run that cuts its corpus as all others do, without which its sums would be of other parts."""

_ON_RAY = """
import sys
from pathlib import Path
from precompute.request import Request
from tests.tools.faults.phases import small_and_quick
from tests.precompute.jobs.ray_cluster import lose_nodes
small_and_quick()
model, corpus, output, *statistics = sys.argv[1:]
lose_nodes(Request(model, corpus, Path(output), statistics, max_tokens=36), lost=1)
"""


def in_phase(phase: str, scene: Scene, chance: Random) -> str:
    """At a random moment of a phase."""
    delay = chance.uniform(0, scene.spans[phase])
    with scene.trial() as folder:
        ended = scene.run(folder, partial(at, phase, partial(killed_after, delay)))
        scene.assert_goes_on(folder)
        return ended.manner


def at_a_name(scene: Scene, chance: Random) -> str:
    """Right before or right after a file takes its name."""
    killed = partial(killed_at_name, chance.randrange(60), is_after=chance.random() < 0.5)
    with scene.trial() as folder:
        ended = scene.run(folder, killed)
        scene.assert_goes_on(folder)
        return ended.manner


def again_and_again(scene: Scene, chance: Random) -> str:
    """Five times, each further on."""
    with scene.trial() as folder:
        for phase in ("reading", "computing", "merging", "fitting", "publishing"):
            ended = scene.run(folder, partial(at, phase, partial(killed_after, 0)))
        scene.assert_goes_on(folder)
        return ended.manner


def a_worker(scene: Scene, chance: Random) -> str:
    """One of two workers."""
    with scene.trial() as folder:
        parent = in_small_parts(scene, folder, workers=2)
        workers = _workers(parent)
        time.sleep(chance.uniform(0, 8))
        _kill(chance.choice(workers))
        messages = parent.communicate(timeout=PATIENCE)[1]
        manner = Ended(parent.returncode, messages).manner
        scene.assert_goes_on(folder)
        return manner


def a_parent(scene: Scene, chance: Random) -> str:
    """Kill the parent of two workers, which would live on."""
    with scene.trial() as folder:
        parent = in_small_parts(scene, folder, workers=2)
        workers = _workers(parent)
        time.sleep(chance.uniform(0, 8))
        parent.kill()
        parent.communicate()
        deadline = time.monotonic() + PATIENCE
        while any(map(is_running, workers)):
            if time.monotonic() > deadline:
                raise Wrong("workers live on")
            time.sleep(0.05)
        scene.assert_goes_on(folder)
        return Ended(parent.returncode, "").manner


def a_node(scene: Scene, chance: Random) -> str:
    """One of two nodes of a Ray cluster, once something is done."""
    with scene.trial() as folder:
        files = [scene.folder / "model", folder / "text.txt", folder / OUTPUT]
        typed = [sys.executable, "-c", _ON_RAY, *map(str, files), *STATISTICS.split(",")]
        ran = subprocess.run(
            typed, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        manner = Ended(ran.returncode, ran.stderr).manner
        scene.assert_goes_on(folder)
        return manner


def in_small_parts(
    scene: Scene, folder: Path, *, workers: int, **how: Any
) -> subprocess.Popen[str]:
    """A run of a trial, started as from a shell; `how` are further options of Popen."""
    given = {"workers": str(workers), "cpus-per-worker": "1"}
    typed = [sys.executable, "-c", _IN_SMALL_PARTS, *command(scene, folder, **given)]
    return subprocess.Popen(
        typed,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def _workers(parent: subprocess.Popen[str]) -> list[int]:
    """Wait for both workers, and return them."""
    workers: set[int] = set()
    while len(workers) < 2 and parent.poll() is None:
        workers |= workers_of(parent.pid)
        time.sleep(0.02)
    return sorted(workers)


def _kill(process: int) -> None:
    if is_running(process):
        os.kill(process, signal.SIGKILL)
