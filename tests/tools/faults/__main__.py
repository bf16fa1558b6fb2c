"""Deliberate faults, and a table of their outcomes.

    python -m tests.tools.faults [--full] [--times 5] [--seed 0] [--only NAME …]

Runs are killed, starved, damaged and disturbed. Inputs from any source are read: texts, images,
models, files of statistics, addresses. Each fault is repeated, each time in another way; with
`--full` as often as `FULL` says. A run after a fault must end with the same numbers. An input must
be shown, or refused in one line. The exit status is 1 if one of these fails.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.pages.kit.hostile_charts import ENDLESS
from tests.tools.faults import changes, damage, disk, interrupts, kills, memory
from tests.tools.faults.hostile import addresses, excess, files, inputs, sockets, strange_charts
from tests.tools.faults.hostile.opened import Pages
from tests.tools.faults.phases import PHASES
from tests.tools.faults.process import Wrong
from tests.tools.faults.scene import Scene, new_scene

Mishap = Callable[[Scene, Random], str]
Kind = Callable[[Random], str]
FULL = {
    "killed": 25,
    "interrupted": 25,
    "terminated": 25,
    "a third run": 25,
    "three parts damaged": 67,
    "the finished file damaged": 100,
    "changed at random": 210,
    "collections": 200,
    "strange charts": len(ENDLESS),
    "addresses": 32,
    "files": 50,
    "file names": 50,
}
"""Trials by `--full` of the kinds whose names begin so: 200 kills, 100 interrupts, 25 third runs,
201 parts, 100 files, 5,040 inputs, 400 collections, 512 addresses, 150 hostile files and 50
names."""


def runs(*, may_mount: bool) -> dict[str, Mishap]:
    """Faults of a run by name; full disks only if this process may make one."""
    at_phases = {
        "killed while": kills.in_phase,
        "no file may be large while": disk.small_files,
        "parts deleted while": disk.removed,
        "corpus replaced while": changes.corpus,
        "model replaced while": changes.model,
        "output replaced while": changes.output,
        "clock put back while": changes.clock,
    }
    if may_mount:
        at_phases |= {"disk full while": disk.full, "disk read-only while": disk.read_only}
    others: dict[str, Mishap] = {
        "killed as a file takes its name": kills.at_a_name,
        "killed five times in a row": kills.again_and_again,
        **{
            f"{event} with {workers} worker(s)": partial(mishap, workers)
            for event, mishap in (
                ("interrupted", interrupts.interrupted),
                ("terminated", interrupts.terminated),
            )
            for workers in (1, 2)
        },
        "one of two workers killed": kills.a_worker,
        "a run with two workers killed": kills.a_parent,
        "one of two Ray nodes killed": kills.a_node,
        "three parts damaged": damage.of_parts,
        "the finished file damaged": damage.of_the_file,
        "two runs of one output": changes.two_runs,
        "a third run with another seed": changes.third_run,
        "too little memory": memory.short,
    }
    by_phase = {
        f"{event} {phase}": partial(mishap, phase)
        for event, mishap in at_phases.items()
        for phase in PHASES
    }
    return by_phase | others


def kinds(folder: Path) -> dict[str, Kind]:
    """All faults by name; their inputs are made when they are tried."""
    scene: list[Scene] = []

    def on_scene(mishap: Mishap, chance: Random) -> str:
        if not scene:
            scene.append(new_scene(_made(folder / "scene")))
        return mishap(scene[0], chance)

    pages = Pages(_made(folder / "pages"))
    of_runs = runs(may_mount=disk.may_mount())
    return {
        **{name: partial(on_scene, mishap) for name, mishap in of_runs.items()},
        **inputs.kinds(_made(folder / "inputs")),
        **strange_charts.kinds(),
        **addresses.kinds(pages),
        **files.kinds(pages, _made(folder / "files")),
        **excess.kinds(pages, _made(folder / "excess")),
        **sockets.kinds(pages),
    }


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def tried(name: str, kind: Kind, *, times: int, seed: int) -> tuple[Counter, list[str]]:
    """Count the outcomes of a fault, and list the wrong ones."""
    ended: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(times):
        try:
            ended[kind(Random(f"{seed} {name} {number}"))] += 1
        except Wrong as fault:
            ended["WRONG"] += 1
            wrong.append(f"{name}, time {number + 1} of seed {seed}: {fault}")
            print(wrong[-1], file=sys.stderr, flush=True)
    return ended, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="hundreds of each, as FULL says")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[""], help="whose name holds one of them")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    wrong, sums = [], Counter[str]()
    with TemporaryDirectory() as folder:
        print("| what happened | times | how it ended |\n| --- | ---: | --- |", flush=True)
        for name, kind in kinds(Path(folder)).items():
            if not any(word in name for word in asked.only):
                continue
            begun = [n for start, n in FULL.items() if asked.full and name.startswith(start)]
            times = begun[0] if begun else asked.times
            ended, faults = tried(name, kind, times=times, seed=asked.seed)
            ends = ", ".join(f"{how} {n}" for how, n in ended.most_common())
            print(f"| {name} | {times} | {ends} |", flush=True)
            sums += ended
            wrong += faults
    print(f"| all | {sums.total()} | {sums['WRONG']} wrong |", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
