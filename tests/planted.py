"""Plant faults in the program, and see that the tests of today catch each: no part of the suite.

    python -m tests.planted [WORD ...]    # faults of files with one of the words in their path; all

Faults are data, in files called planted.toml among the tests that catch them. A table there names
the file that faults are planted `in`, the `test` that has to fail (a file or one test of it), and
the `faults`: what stands in the file exactly once, and what is planted instead. One fault at a time
is planted, its test run, and the fault taken out again. Exit status 1 if anything was not caught.
Whoever takes a test away plants faults that it caught here first, with a test that stays.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    """Text of a file, the fault planted in its place, and the test that catches it."""

    file: str
    old: str
    new: str
    test: str


def planted(words: list[str]) -> Iterator[Fault]:
    """Yield the faults of all files with one of the words in their path; all without words."""
    for data in sorted(Path(__file__).parent.rglob("planted.toml")):
        for table in tomllib.loads(data.read_text(encoding="utf-8"))["planted"]:
            for old, new in table["faults"]:
                if not words or any(word in table["in"] for word in words):
                    yield Fault(table["in"], old, new, table["test"])


def is_caught(fault: Fault) -> bool:
    """Plant a fault while a test runs; return True if it fails.

    Raises:
        ValueError: if what is to be changed does not stand there exactly once, or no test ran.
    """
    path = ROOT / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise ValueError(f"{path.name} has {text.count(fault.old)} times {fault.old!r}")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    try:
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        run = subprocess.run([*command, fault.test], cwd=ROOT, capture_output=True, text=True)
    finally:
        path.write_text(text, encoding="utf-8")
    if run.returncode not in (0, 1):
        raise ValueError(f"{fault.test} did not run:\n{run.stdout[-2000:]}")
    return run.returncode == 1


def main(words: list[str]) -> int:
    """Plant all faults that are asked for; return how many were not caught."""
    missed = 0
    for fault in planted(words):
        caught = is_caught(fault)
        missed += not caught
        verdict = "caught" if caught else "MISSED"
        print(f"{verdict:7} {fault.file}: {fault.old} -> {fault.new}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
