"""Whole stores that several files of tests read, built once for all workers of a run."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from tests.small_store import build_store


def shared_store(
    factory: pytest.TempPathFactory, family: str = "bert", *, annotated: bool = False
) -> Path:
    """The path of a file with all statistics, to be read and never changed.

    The model and the corpus that it was made of lie beside it.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # each worker has a folder of its own in it
    folder = root / f"shared-{family}{'-annotated' if annotated else ''}"
    folder.mkdir(exist_ok=True)
    with FileLock(root / f"{folder.name}.lock"):
        finished = folder / "tiny.duckdb"
        return finished if finished.exists() else build_store(folder, family, annotated=annotated)
