"""A store of images with perturbation curves."""

from collections.abc import Iterator

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from precompute.jobs.plan import Plan
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import request

CURVES = ["relevance_map", "relevance_agreement", "perturbation", "class_prediction"]


@pytest.fixture(scope="session")
def curves_run(tmp_path_factory) -> tuple[Request, Plan]:
    """A ViT with three classes: agreement of rules, and perturbation curves."""
    return shared_run(
        tmp_path_factory, "curves-vit", lambda folder: request(folder, "vit", statistics=CURVES)
    )


@pytest.fixture(scope="session")
def curves_store(curves_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(curves_run[0].output), read_only=True) as store:
        yield store
