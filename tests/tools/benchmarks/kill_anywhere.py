"""Kills the demo's precompute at random moments and compares what it ends with.

    python -m tests.tools.benchmarks.kill_anywhere [--kills 20] [--seed 0]

Each trial starts anew, is killed (SIGKILL) after a random time within a whole run's, is called
again until it is done, and its file is compared with that of a run nobody disturbed: every row of
every table, to the last bit.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

COMMAND = [sys.executable, "-m", "precompute", "run", "--model", "demo", "--corpus", "demo"]
TABLES = "select table_name from duckdb_tables() where schema_name = 'stored'"


def whole_run(output: Path) -> float:
    """Seconds of a run from start to end."""
    started = time.monotonic()
    command = [*COMMAND, "--output", str(output)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def killed_run(output: Path, seconds: float) -> None:
    """A run that is killed after some time, unless it is done by then."""
    process = subprocess.Popen([*COMMAND, "--output", str(output)], stdout=subprocess.DEVNULL)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


def differences(first: Path, second: Path) -> list[str]:
    """Tables whose rows differ; when a file was made may."""
    with duckdb.connect(str(first), read_only=True) as store:
        store.execute(f"attach '{second}' as other (read_only)")
        names = {name for (name,) in store.execute(TABLES).fetchall()} - {"run", "manifest"}
        return [name for name in sorted(names) if _differ(store, name)]


def _differ(store: duckdb.DuckDBPyConnection, name: str) -> bool:
    one, other = f"stored.{name}", f"other.stored.{name}"
    only = "select count(*) from ((from {} except all from {}) limit 1)"
    return any(
        store.execute(only.format(*pair)).fetchall()[0][0] for pair in ((one, other), (other, one))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    generator = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        undisturbed = Path(folder) / "whole" / "demo.duckdb"
        seconds = whole_run(undisturbed)
        print(f"undisturbed: {seconds:.1f} s", flush=True)
        same = 0
        for number in range(asked.kills):
            output = Path(folder) / str(number) / "demo.duckdb"
            moment = generator.uniform(0, seconds)
            killed_run(output, moment)
            # a file that bears the name after the kill was renamed before it, so it must be whole
            wrong = differences(undisturbed, output) if output.exists() else []
            whole_run(output)
            wrong += differences(undisturbed, output)
            same += not wrong
            print(f"kill {number + 1}: at {moment:.1f} s, differing tables: {wrong or 'none'}",
                  flush=True)  # fmt: skip
        print(f"{same} of {asked.kills} files equal the undisturbed one to the last bit")


if __name__ == "__main__":
    main()
