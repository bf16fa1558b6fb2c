"""A store with masked tokens, as fits find it, and the sequences it was made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from duckdb import DuckDBPyConnection
from precompute.passes.batch import Batch

from analysis.models.trace import Trace
from analysis.scopes import LayerOrder
from precompute.jobs.plan import Plan
from precompute.models.load_models import load_model
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import LONGER_TEXT, save_one_layer
from tests.small_store import request as asked_for
from tests.tiny import mask_rate

POSITIONS = [
    "offset_agreement",
    "relative_position_cluster",
    "state_spectrum",
    "exemplar_attention",
    "embedding_spectrum",
]
DISTANCES = ("head_layout", "head_linkage", "layer_cohesion", "head_distance_agreement")
OFFSETS = ("offset_agreement", "relative_position_cluster")
CURVES = ("relevance_map", "relevance_agreement", "perturbation", "class_prediction")
WHOLE_LAYER = (
    "scope_similarity",
    "mixing_ratio",
    "rollout",
    "vector_rollout",
    "vector_agreement",
    "bias_reading",
)


def _shared(
    factory: pytest.TempPathFactory, name: str, family: str, **chosen: Any
) -> tuple[Request, Plan]:
    return shared_run(
        factory, f"{name}-{family}", lambda folder: asked_for(folder, family, **chosen)
    )


def _opened(run: tuple[Request, Plan]) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(run[0].output), read_only=True) as store:
        yield store


def _again(run: tuple[Request, Plan]) -> list[Batch]:
    """Every sequence of a run traced again, by itself."""
    model = load_model(run[0].model, device="cpu")
    return [Batch((sequence,), model.trace([sequence])) for sequence in run[1].corpus]


@pytest.fixture(scope="session")
def layer_order(tiny) -> LayerOrder:
    """The scopes and effects that the family's layers have."""
    return tiny.layers[0].order


@pytest.fixture(scope="session")
def is_causal(tiny) -> bool:
    return tiny.layers[0].is_causal


@pytest.fixture(scope="session")
def masked_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    """Everything about whole layers, on every family."""
    chosen = {"mask_rate": mask_rate(family, 0.3), "statistics": list(WHOLE_LAYER)}
    return _shared(tmp_path_factory, "masked", family, **chosen)


@pytest.fixture(scope="session")
def masked_store(masked_run) -> Iterator[DuckDBPyConnection]:
    yield from _opened(masked_run)


@pytest.fixture(scope="module")
def store(finished) -> Iterator[DuckDBPyConnection]:
    """The file of the run that a file of tests calls `finished`."""
    yield from _opened(finished)


@pytest.fixture(scope="session")
def masked_batches(masked_run) -> list[Batch]:
    """Every sequence of the store traced again, by itself."""
    return _again(masked_run)


@pytest.fixture(scope="session")
def one_layer_run(tmp_path_factory) -> tuple[Request, Plan]:
    """Heads and offsets of one text through a BERT of one layer."""

    def ask(folder: Path) -> Request:
        save_one_layer(folder)
        return asked_for(folder, statistics=[*DISTANCES, *OFFSETS], limit=1)

    return shared_run(tmp_path_factory, "one-layer", ask)


@pytest.fixture(scope="session")
def one_layer_store(one_layer_run) -> Iterator[DuckDBPyConnection]:
    yield from _opened(one_layer_run)


@pytest.fixture(scope="session")
def position_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    """Attention, scores and states by position, of texts that are long enough for waves."""

    def ask(folder: Path) -> Request:
        asked = asked_for(folder, family, statistics=POSITIONS)
        Path(str(asked.corpus)).write_text(LONGER_TEXT, encoding="utf-8")
        return asked

    return shared_run(tmp_path_factory, f"positions-{family}", ask)


@pytest.fixture(scope="session")
def position_store(position_run) -> Iterator[DuckDBPyConnection]:
    yield from _opened(position_run)


@pytest.fixture(scope="session")
def position_traces(position_run) -> dict[int, Trace]:
    """Every sequence of the store traced again, by itself."""
    return {batch.sequences[0].index: batch.trace for batch in _again(position_run)}


@pytest.fixture(scope="session")
def curves_run(tmp_path_factory) -> tuple[Request, Plan]:
    """A ViT with three classes: agreement of rules, and perturbation curves."""
    return _shared(tmp_path_factory, "curves", "vit", statistics=list(CURVES))


@pytest.fixture(scope="session")
def curves_store(curves_run) -> Iterator[DuckDBPyConnection]:
    yield from _opened(curves_run)
