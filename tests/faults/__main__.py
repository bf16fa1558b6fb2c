"""What goes wrong, done on purpose, and a table of how it ended.

    python -m tests.faults [--times 5] [--seed 0] [--only NAME …]

Each mishap happens so many times to a small run, each time at another moment. After it the same
command must end with the same numbers, whatever it was. It ends with status 1 if one did not.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.faults import changes, damage, disk, kills, memory
from tests.faults.phases import PHASES
from tests.faults.process import Wrong
from tests.faults.scene import Scene, new_scene

Kind = Callable[[Scene, Random], str]


def kinds(*, may_mount: bool) -> dict[str, Kind]:
    """Every mishap by what it is called; disks can be full only where one may be made."""
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
    others: dict[str, Kind] = {
        "killed as a file takes its name": kills.at_a_name,
        "killed five times in a row": kills.again_and_again,
        "one of two workers killed": kills.a_worker,
        "a run with two workers killed": kills.a_parent,
        "three parts damaged": damage.of_parts,
        "the finished file damaged": damage.of_the_file,
        "two runs of one output": changes.two_runs,
        "too little memory": memory.short,
    }
    by_phase = {
        f"{what} {phase}": partial(mishap, phase)
        for what, mishap in at_phases.items()
        for phase in PHASES
    }
    return by_phase | others


def tried(name: str, kind: Kind, scene: Scene, *, times: int, seed: int) -> tuple[Counter, list]:
    """How often it ended how, and what was wrong."""
    ended: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(times):
        try:
            ended[kind(scene, Random(f"{seed} {name} {number}"))] += 1
        except Wrong as fault:
            ended["WRONG"] += 1
            wrong.append(f"{name}, time {number + 1} of seed {seed}: {fault}")
            print(wrong[-1], file=sys.stderr, flush=True)
    return ended, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[""], help="whose name holds one of them")
    asked = parser.parse_args()
    wrong = []
    with TemporaryDirectory() as folder:
        scene = new_scene(Path(folder))
        print("| what happened | times | how it ended |\n| --- | ---: | --- |", flush=True)
        for name, kind in kinds(may_mount=disk.may_mount()).items():
            if not any(each in name for each in asked.only):
                continue
            ended, faults = tried(name, kind, scene, times=asked.times, seed=asked.seed)
            told = ", ".join(f"{how} {n}" for how, n in ended.most_common())
            print(f"| {name} | {asked.times} | {told} |", flush=True)
            wrong += faults
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
