"""Whole stores that several files of tests read, built once for all workers of a run."""

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import jaxtyping
import pytest
from filelock import FileLock

from analysis.measures.probing import parsers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.run import Request, run
from tests.small_store import request


@contextmanager
def without_shape_checks() -> Iterator[None]:
    """Leave shapes to the tests that check them on each family: they take a quarter of a run."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


def shared_run(
    factory: pytest.TempPathFactory, name: str, ask: Callable[[Path], Request]
) -> tuple[Request, Plan]:
    """A run that was asked for in a folder of its own, to be read and never changed.

    Args:
        name: one for every run that is asked for.
        ask: writes what the run reads into the folder.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # each worker has a folder of its own in it
    folder = root / f"shared-{name}"
    folder.mkdir(exist_ok=True)
    with FileLock(root / f"{folder.name}.lock"):
        finished = folder / "finished.pickle"
        if not finished.exists():
            asked = ask(folder)
            with without_shape_checks():
                finished.write_bytes(pickle.dumps((asked, run(asked, run_local))))
        return pickle.loads(finished.read_bytes())


def shared_store(
    factory: pytest.TempPathFactory, family: str = "bert", *, annotated: bool = False, **settings
) -> Path:
    """The path of a file to be read and never changed, with all statistics unless others are asked.

    The model and the corpus that it was made of lie beside it. Its parsers were trained so briefly
    that what they score means nothing.
    """
    chosen = {"annotated": annotated, **settings}
    name = f"{family}-{sha256(repr(sorted(chosen.items())).encode()).hexdigest()[:8]}"
    with brief_parsers():
        asked, _ = shared_run(factory, name, lambda folder: request(folder, family, **chosen))
    return asked.output


@contextmanager
def brief_parsers() -> Iterator[None]:
    """Parsers are trained so briefly that what they score means nothing."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parsers, "EPOCHS", 1)
        patched.setattr(parsers, "STEPS", 10)
        yield
