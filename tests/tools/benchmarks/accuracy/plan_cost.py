"""Estimate of a plan against the run: processor time, peak of memory, bytes of the file.

    python -m tests.tools.benchmarks.accuracy.plan_cost MODEL CORPUS [--limit 24] [--statistics all]

The run is a process of its own. Printed are estimate, truth and their ratio, and what the plan
itself took.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from precompute.jobs.memory import return_freed_memory
from precompute.planning.costs import Estimate, estimated
from precompute.request import Request
from precompute.run import planned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--limit", type=int, default=24)
    parser.add_argument("--statistics", default="all")
    asked = parser.parse_args()
    names, output = asked.statistics.split(","), Path("run.duckdb")
    model, corpus = (os.path.abspath(n) if "/" in n else n for n in (asked.model, asked.corpus))
    with TemporaryDirectory() as folder:
        os.environ["PYTHONPATH"] = os.getcwd()
        os.chdir(folder)
        return_freed_memory()
        plan, loaded = planned(
            Request(model, corpus, output, statistics=names, limit=asked.limit, device="cpu")
        )
        before = time.process_time()
        estimate = estimated(plan, loaded)
        print(f"the plan itself: {time.process_time() - before:.1f} s of processor time")
        command = ["run", "--model", model, "--corpus", corpus, "--output", str(output)]
        command += ["--limit", str(asked.limit), "--statistics", asked.statistics]
        subprocess.run(
            [sys.executable, "-m", "precompute", *command, "--device", "cpu"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        compare(estimate, output)


def compare(estimate: Estimate, output: Path) -> None:
    """Print the estimate beside what the run took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = estimate.total
    for name, expected, true in (
        ("processor time, s", total.seconds, used.ru_utime + used.ru_stime),
        ("peak of memory, MB", total.memory / 1e6, used.ru_maxrss * 1024 / 1e6),
        ("file, MB", total.bytes / 1e6, output.stat().st_size / 1e6),
    ):
        print(f"{name:<20}{expected:>10.1f}{true:>10.1f}{expected / true:>8.2f}")


if __name__ == "__main__":
    main()
