"""A file of statistics that another process holds open for writing."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLD = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"


@contextmanager
def held_open(file: Path) -> Iterator[int]:
    """Hold a file open in a process of its own; yield the number of the process."""
    command = [sys.executable, "-c", _HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.communicate(b"\n")
