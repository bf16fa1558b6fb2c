"""Whole stores of pairs, of two families or of those that a test names."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.scopes import LayerOrder
from analysis.statistics.pairs.changes import PAIR_DELTA
from precompute.jobs.plan import Plan
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import request as asked_for
from tests.tiny import mask_rate

Run = tuple[Request, Plan]


@pytest.fixture(scope="session")
def layer_order(tiny) -> LayerOrder:
    return tiny.layers[0].order


@pytest.fixture(scope="session")
def pair_run(tmp_path_factory, family) -> Run:
    """Every statistic of pairs, with some masked tokens where the family has a mask."""

    def ask(folder: Path) -> Request:
        statistics = ["pair_occurrence", "pair_pmi_correlation", "relation_share"]
        return asked_for(folder, family, mask_rate=mask_rate(family, 0.1), statistics=statistics)

    return shared_run(tmp_path_factory, f"pairs-{family}", ask)


@pytest.fixture(scope="session")
def pair_store(pair_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(pair_run[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="session")
def occurrences(pair_run) -> pd.DataFrame:
    """Every occurrence of every pair in every layer, as shards hold them."""
    return pd.concat(map(pd.read_parquet, pair_run[1].shards(PAIR_DELTA)))
