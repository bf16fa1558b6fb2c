"""Means over sequences as fits make them."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.scopes import POST_NORM
from analysis.statistics.base import means as base_means
from analysis.statistics.base.means import Blocks
from analysis.statistics.base.tables import FitContext
from precompute.jobs.bounds import block_of
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from tests.small_store import fetched, request

ROWS = pd.DataFrame(
    {"seq": [7, 7, 2, 9], "scope": ["b", "a", "a", "b"], "share": [0.5, 0.25, 0.75, np.nan]}
)
ALONE = FitContext(seed=0, order=POST_NORM, frequency_ranks={})


def means_of(
    rows: pd.DataFrame,
    blocks: dict[int, int] | None = None,
    context: FitContext = ALONE,
    zero: frozenset[str] = frozenset(),
) -> pd.DataFrame:
    """Means of the shares of every scope; by default each sequence is a block."""
    of = blocks or {int(seq): int(seq) for seq in rows["seq"]}
    query = "select seq, scope as quantity, share as value from rows where {some}"
    with duckdb.connect() as store:
        store.register("rows", rows)
        store.register("blocks", pd.DataFrame({"seq": of.keys(), "block": of.values()}))
        return Blocks.of(store, "rows").means(store, query, context, zero)


@pytest.mark.parametrize("size", [1, 3, 11])
@pytest.mark.parametrize("blocks", [None, {2: 0, 7: 0, 9: 1}])
def test_only_sequences_with_a_value_count_however_many_are_asked_at_a_time(
    blocks, size, monkeypatch
):
    monkeypatch.setattr(base_means, "SLICE", size)
    rows = means_of(ROWS, blocks)
    assert rows["quantity"].tolist() == ["a", "b"]
    assert rows["mean"].tolist() == [0.5, 0.5]
    assert rows["n_sequences"].tolist() == [2, 1]
    assert rows[["low", "high"]].isna().all(axis=None)
    assert means_of(ROWS.assign(share=np.nan)).empty
    rows = means_of(ROWS, {2: 0, 7: 0, 9: 1}, zero=frozenset({"b"}))
    assert rows["mean"].tolist() == [0.5, pytest.approx(0.5 / 3)]
    assert rows["n_sequences"].tolist() == [2, 1], "those that have it"


def test_windows_of_few_documents_have_a_mean_and_no_interval():
    rows = pd.DataFrame({"seq": range(30), "scope": "a", "share": np.linspace(0, 1, 30)})
    documents = np.arange(30, dtype=np.int32) // 6
    for given, absent in ((None, False), (documents, True)):
        row = means_of(rows, context=replace(ALONE, documents=given)).iloc[0]
        assert row["mean"] == pytest.approx(0.5)
        assert np.isnan([row["low"], row["high"]]).all() == absent


def test_intervals_of_blocks_are_close_to_those_of_sequences():
    """Means of a skewed quantity that half of the sequences have."""
    drawn = np.random.default_rng(0)
    values = np.where(drawn.random(6000) < 0.5, drawn.lognormal(size=6000), np.nan)
    rows = pd.DataFrame({"seq": range(6000), "scope": "a", "share": values})
    blocks = block_of(np.arange(6000, dtype=np.int32), 500)
    of_sequences, of_blocks = (
        means_of(rows, of).iloc[0] for of in (None, dict(enumerate(blocks.tolist())))
    )
    assert of_blocks["mean"] == pytest.approx(of_sequences["mean"], rel=1e-12)
    assert of_blocks["n_sequences"] == of_sequences["n_sequences"] == (~np.isnan(values)).sum()
    width = of_sequences["high"] - of_sequences["low"]
    assert of_blocks["high"] - of_blocks["low"] == pytest.approx(width, rel=0.1)
    assert [of_blocks["low"], of_blocks["high"]] == pytest.approx(
        [of_sequences["low"], of_sequences["high"]], abs=width / 10
    )


def test_single_tokens_mix_nothing_and_the_file_is_sound(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"tokens": [word]}) + "\n" for word in ("cat", "dog")))
    names = ["scope_similarity", "mixing_ratio", "relation_share", "rollout"]
    asked = replace(request(tmp_path, statistics=names), corpus=str(corpus))
    run(asked, run_local)
    assert list(faults(asked.output)) == []
    for empty in ("scope_similarity", "relation_share"):
        assert fetched(asked.output, f"from {empty}") == []
    assert fetched(asked.output, "select max(mean) < 1e-6 from mixing_ratio") == [(True,)]
    assert fetched(asked.output, "select distinct mean from rollout") == [(1,)]
