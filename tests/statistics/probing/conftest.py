"""Whole stores of a small treebank, of two families."""

from collections.abc import Iterator

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from precompute.jobs.plan import Plan
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import request as asked_for

STATISTICS = [
    "dependency_accuracy",
    "dependency_baseline",
    "dependency_difference",
    "dependency_best",
    "coreference_accuracy",
    "coreference_best",
    "coreference_difference",
]


@pytest.fixture(scope="session")
def probing_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    """Predictions of single heads in the small treebank: governors and antecedents."""
    return shared_run(
        tmp_path_factory,
        f"probing-{family}",
        lambda folder: asked_for(folder, family, annotated=True, statistics=STATISTICS),
    )


@pytest.fixture(scope="session")
def probing_store(probing_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(probing_run[0].output), read_only=True) as store:
        yield store
