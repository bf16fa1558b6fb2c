"""Means over sequences as fits make them."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.measures.bootstrap import redraws
from analysis.scopes import POST_NORM
from analysis.tables.mixing.rollout import TABLE
from precompute.jobs.runner import run_local
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.small_store import request

ROWS = pd.DataFrame(
    {"seq": [7, 7, 2, 9], "scope": ["b", "a", "a", "b"], "share": [0.5, 0.25, 0.75, np.nan]}
)


def test_sequences_are_rows_in_their_order_and_what_they_lack_is_nan():
    cells, sequences, values = by_sequence(ROWS, cell=["scope"], value="share")
    assert sequences.tolist() == [2, 7, 9]
    assert cells["scope"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(values, [[0.75, np.nan], [0.25, 0.5], [np.nan, np.nan]])


def test_only_sequences_with_a_value_count():
    cells, sequences, values = by_sequence(ROWS, cell=["scope"], value="share")
    found = with_intervals(cells, values, redraws(sequences, seed=0))
    assert found["mean"].tolist() == [0.5, 0.5]
    assert found["n_sequences"].tolist() == [2, 1]
    assert found[["low", "high"]].isna().all(axis=None)


def test_windows_of_few_documents_have_a_mean_and_no_interval():
    rows = pd.DataFrame({"seq": range(30), "scope": "a", "share": np.linspace(0, 1, 30)})
    cells, sequences, values = by_sequence(rows, cell=["scope"], value="share")
    documents = np.arange(30, dtype=np.int32) // 6
    for given, absent in ((None, False), (documents, True)):
        context = FitContext(seed=0, order=POST_NORM, frequency_ranks={}, documents=given)
        found = with_intervals(cells, values, context.redraws(sequences)).iloc[0]
        assert found["mean"] == pytest.approx(0.5)
        assert np.isnan([found["low"], found["high"]]).all() == absent


def test_what_no_sequence_has_has_no_mean():
    rows = ROWS.assign(share=np.nan)
    cells, sequences, values = by_sequence(rows, cell=["scope"], value="share")
    assert with_intervals(cells, values, redraws(sequences, seed=0)).empty


def test_a_column_that_a_frame_lacks_is_null():
    frame = pd.DataFrame({"layer": [1], "scope": ["attn"], "distance": [4]})
    row = rows_of(TABLE, [frame.assign(mean=0.5, low=0.4, high=0.6, n_sequences=3)])
    assert row.schema == TABLE.schema
    (found,) = row.to_pylist()
    assert (found["token_type"], found["distance"]) == (None, 4)
    assert rows_of(TABLE, []).schema == TABLE.schema


@pytest.fixture
def of_single_tokens(tmp_path) -> Path:
    """A store of sequences that hold one token each."""
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"tokens": [each]}) + "\n" for each in ("cat", "dog")))
    names = ["scope_similarity", "mixing_ratio", "relation_share", "rollout"]
    asked = replace(request(tmp_path, statistics=names), corpus=str(corpus))
    run(asked, run_local)
    return asked.output


def test_single_tokens_mix_nothing_and_the_file_is_sound(of_single_tokens):
    assert list(faults(of_single_tokens, every_table())) == []
    with duckdb.connect(str(of_single_tokens), read_only=True) as store:
        empty = (
            "select count(*) from scope_similarity union all select count(*) from relation_share"
        )
        assert store.execute(empty).fetchall() == [(0,), (0,)]
        assert store.execute("select count(*), max(mean) < 1e-6 from mixing_ratio").fetchall()[0][1]
        assert store.execute("select distinct mean from rollout").fetchall() == [(1,)]
