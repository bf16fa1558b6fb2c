"""The inner loop, what it leaves out, and what holds for all tests.

Every process of a run computes with one thread: tensors here are tiny, and the threads of two
workers on two cores would wait for each other most of the time.
"""

import gc
import os
from pathlib import Path

for _library in ("OMP", "OPENBLAS", "MKL"):  # which read it once, when they are loaded
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import hypothesis
import pytest

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")  # a busy machine or another draw decides nothing


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast",
        action="store_true",
        help="the inner loop: one family, pages in English, no browser, nothing slow",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Loads the models and what tests share of them, but not where tests are only handed out."""
    only_hands_out = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not only_hands_out:
        config.pluginmanager.import_plugin("tests.fixtures")


ROOT = Path(__file__).parent
OF_PRECOMPUTE = ("jobs", "models", "live", "store")
WHOLE = {
    "outermost",
    "docs",
    "precompute",
    *(f"precompute/{name}" for name in OF_PRECOMPUTE),
}
"""Folders of which each test builds or reads whole files, models or sites."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The inner loop does not even load what it leaves out as a whole.

    A page's own tests are among it: what holds of all sections is asked by `test_every_section`.
    """
    if not config.getoption("fast") or collection_path.is_dir():
        return None
    folder = collection_path.parent.relative_to(ROOT).as_posix()
    of_page = folder.startswith("pages/") and folder != "pages/kit"
    is_test = collection_path.name.startswith("test_")
    return True if is_test and (folder in WHOLE or of_page) else None


def pytest_collection_finish() -> None:
    """Leaves what is loaded by now out of every later search for garbage: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
