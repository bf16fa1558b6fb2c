"""Attention, scores and states by position, of texts that are long enough for waves."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from precompute.jobs.plan import Plan
from precompute.models.load_models import load_model
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import LONGER_TEXT
from tests.small_store import request as asked_for
from tests.tracing import Trace, trace_of

STATISTICS = [
    "offset_agreement",
    "relative_position_cluster",
    "state_spectrum",
    "exemplar_attention",
    "embedding_spectrum",
    "position_variance",
    "query_key_singular_value",
    "query_key_rotation",
    "query_key_error",
    "query_key_phase",
    "query_key_wave",
]


@pytest.fixture(scope="session")
def position_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    def ask(folder: Path) -> Request:
        asked = asked_for(folder, family, statistics=STATISTICS)
        Path(str(asked.corpus)).write_text(LONGER_TEXT, encoding="utf-8")
        return asked

    return shared_run(tmp_path_factory, f"positions-{family}", ask)


@pytest.fixture(scope="session")
def position_store(position_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(position_run[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="session")
def position_traces(position_run) -> dict[int, Trace]:
    """Every sequence of the store traced again, by itself."""
    asked, plan = position_run
    model = load_model(asked.model, device="cpu")
    return {sequence.index: trace_of(model, [sequence]) for sequence in plan.corpus}


@pytest.fixture(scope="session")
def is_causal(tiny) -> bool:
    return tiny.layers[0].is_causal
