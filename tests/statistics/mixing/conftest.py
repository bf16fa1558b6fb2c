"""Whole stores about layers, of two families, and layers of tiny models."""

from collections.abc import Iterator

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from analysis.models.trace import LayerTrace
from analysis.scopes import LayerOrder
from tests.shared_store import shared_run
from tests.small_store import request
from tests.tiny import mask_rate

STATISTICS = [
    "scope_similarity",
    "mixing_ratio",
    "rollout",
    "vector_rollout",
    "vector_agreement",
]


@pytest.fixture(scope="session")
def layers(traced_alone) -> list[LayerTrace]:
    """Every layer of every sequence, without padding."""
    return [layer for trace in traced_alone for layer in trace.layers]


@pytest.fixture(scope="session")
def layer_order(tiny) -> LayerOrder:
    return tiny.layers[0].order


@pytest.fixture(scope="session")
def masked_store(tmp_path_factory, family) -> Iterator[DuckDBPyConnection]:
    """Everything about whole layers, with masked tokens where the family has a mask."""
    chosen = {"mask_rate": mask_rate(family, 0.3), "statistics": STATISTICS}
    asked, _ = shared_run(
        tmp_path_factory, f"mixing-{family}", lambda folder: request(folder, family, **chosen)
    )
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield store
