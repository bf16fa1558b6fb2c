"""Distances of heads, against loops over rows and keys, and laws of any divergence."""

from math import log

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.heads.head_distances import head_distances
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from precompute.corpora.sequence import Entry
from precompute.passes import heads as passes
from tests.tiny import HEADS, LAYERS, tiny_sequences
from tests.tracing import rows_of_table

Matrix = list[list[float]]


def drawn(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def rows_of(seed: int, *, heads: int = 4, n: int = 5, is_causal: bool = False) -> torch.Tensor:
    hidden = ~seen_by(n, is_causal=is_causal)
    return (3 * drawn(seed, heads, n, n)).masked_fill(hidden, -torch.inf).softmax(dim=-1)


def seen_by(n: int, *, is_causal: bool = False) -> torch.Tensor:
    every = torch.ones(n, n, dtype=torch.bool)
    return every.tril() if is_causal else every


@pytest.mark.parametrize("is_causal", [False, True])
@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 9))
def test_a_distance_is_symmetric_bounded_and_nothing_to_oneself(is_causal, seed, n):
    attention = rows_of(seed, n=n, is_causal=is_causal)
    distances = head_distances(attention, seen_by(n, is_causal=is_causal))
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert (distances >= 0).all()
    assert (distances <= n * log(2)).all()


def test_what_a_causal_query_cannot_see_is_not_counted():
    attention, seen = rows_of(3, n=6, is_causal=True), seen_by(6, is_causal=True)
    first = head_distances(attention[:, :1], seen[:1])
    assert not first.any(), "the first token has nothing to choose"
    changed = attention.clone()
    changed[1][~seen] = 0.7
    assert np.array_equal(head_distances(changed, seen), head_distances(attention, seen))


def matrix_of(rows: pd.DataFrame, weighing: str) -> np.ndarray:
    """Return mean divergences of a shard's rows."""
    of_weighing = rows[rows["weighing"] == weighing]
    matrix = np.zeros((LAYERS * HEADS,) * 2)
    upper = np.triu_indices(len(matrix))
    matrix[upper] = of_weighing["divergence"] / of_weighing["n_rows"]
    return matrix + matrix.T


def test_few_queries_of_a_long_text_tell_nearly_the_distances_of_all(tiny, monkeypatch):
    """Texts above the budget keep evenly spaced queries, whatever else is in their batch."""
    texts = (
        Entry("line 1", (" ".join(["The cat sat, the dog ran."] * 5),)),
        Entry("line 2", ("Dog.",)),
    )
    long = tiny_sequences(tiny.family, texts)
    n_tokens, short = map(len, long)
    whole = rows_of_table(HEAD_DISTANCE, tiny, long[:1]).to_pandas()
    monkeypatch.setattr(passes, "COMPARED", LAYERS * HEADS * n_tokens * 4 * n_tokens // 2)
    queries = passes.compared_queries(n_tokens, LAYERS * HEADS)
    assert queries == [place * n_tokens // (n_tokens // 2) for place in range(n_tokens // 2)]
    sampled = rows_of_table(HEAD_DISTANCE, tiny, long[:1]).to_pandas()
    assert set(sampled["n_rows"]) == {len(queries)}
    for weighing in (WEIGHT, NORM):
        all_rows, few_rows = matrix_of(whole, weighing), matrix_of(sampled, weighing)
        upper = np.triu_indices(len(all_rows), 1)
        assert few_rows[upper] == pytest.approx(all_rows[upper], rel=0.25)
        assert not np.array_equal(few_rows, all_rows)
        assert np.corrcoef(few_rows[upper], all_rows[upper])[0, 1] > 0.9
    together, alone = (
        rows_of_table(HEAD_DISTANCE, tiny, of).to_pandas() for of in (long, long[1:])
    )
    added = sampled["divergence"] + alone["divergence"]
    assert together["divergence"].to_numpy() == pytest.approx(added.to_numpy(), rel=1e-5, abs=1e-7)
    assert set(together["n_rows"]) == {len(queries) + short}, "a short text keeps all"


def test_one_query_at_least_is_compared_and_short_texts_keep_all():
    assert passes.compared_queries(10**6, 10**4) == [0]
    assert passes.compared_queries(128, 144) == list(range(128))
    assert passes.compared_queries(2048, 270)[:3] == [0, 16, 33]
    assert len(passes.compared_queries(2048, 270)) == 121
