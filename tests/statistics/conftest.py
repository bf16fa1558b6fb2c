"""Layers of tiny models, and whole stores that several tests read."""

from collections.abc import Iterator
from functools import partial

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from analysis.models.trace import LayerTrace
from precompute.jobs.plan import Plan
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import request as asked_for
from tests.tiny import mask_rate

Run = tuple[Request, Plan]
OF_PAIRS = ["pair_occurrence", "pair_pmi_correlation", "relation_share"]
OF_GOVERNORS = ["dependency_accuracy", "dependency_baseline", "dependency_difference"]
OF_ANTECEDENTS = ["coreference_accuracy", "coreference_best", "coreference_difference"]
OF_CURVES = ["relevance_map", "relevance_agreement", "perturbation", "class_prediction"]


@pytest.fixture(scope="session")
def layers(traced_alone) -> list[LayerTrace]:
    """Every layer of every sequence, without padding."""
    return [layer for trace in traced_alone for layer in trace.layers]


@pytest.fixture(scope="session")
def pair_run(tmp_path_factory, family) -> Run:
    """Every statistic of pairs, with some masked tokens where the family has a mask."""
    rate = mask_rate(family, 0.1)
    ask = partial(asked_for, family=family, mask_rate=rate, statistics=OF_PAIRS)
    return shared_run(tmp_path_factory, f"pairs-{family}", ask)


@pytest.fixture(scope="session")
def probing_run(tmp_path_factory) -> Run:
    """Predictions of single heads in the small treebank: governors and antecedents."""
    statistics = [*OF_GOVERNORS, "dependency_best", *OF_ANTECEDENTS]
    ask = partial(asked_for, annotated=True, statistics=statistics)
    return shared_run(tmp_path_factory, "probing-bert", ask)


@pytest.fixture(scope="session")
def curves_run(tmp_path_factory) -> Run:
    """A ViT with three classes: agreement of rules, and perturbation curves."""
    ask = partial(asked_for, family="vit", statistics=OF_CURVES)
    return shared_run(tmp_path_factory, "curves-vit", ask)


def opened(run: Run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(run[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="session")
def pair_store(pair_run) -> Iterator[DuckDBPyConnection]:
    yield from opened(pair_run)


@pytest.fixture(scope="session")
def probing_store(probing_run) -> Iterator[DuckDBPyConnection]:
    yield from opened(probing_run)


@pytest.fixture(scope="session")
def curves_store(curves_run) -> Iterator[DuckDBPyConnection]:
    yield from opened(curves_run)
