"""Distances of heads, against loops over rows and keys, and laws of any divergence."""

from math import log

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.heads.head_distance import head_distances
from tests.reference.heads import head_distance as twin


def attention_of(traced, row: int, n: int) -> torch.Tensor:
    return torch.cat([layer.attention[row, :, :n, :n] for layer in traced.layers])


def drawn(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def rows_of(seed: int, *, heads: int = 4, n: int = 5, is_causal: bool = False) -> torch.Tensor:
    hidden = ~seen_by(n, is_causal=is_causal)
    return (3 * drawn(seed, heads, n, n)).masked_fill(hidden, -torch.inf).softmax(dim=-1)


def seen_by(n: int, *, is_causal: bool = False) -> torch.Tensor:
    every = torch.ones(n, n, dtype=torch.bool)
    return every.tril() if is_causal else every


def test_distances_are_those_of_the_twin(tiny, traced, sequences):
    for row, sequence in enumerate(sequences):
        n = len(sequence)
        attention, seen = attention_of(traced, row, n), tiny.layers[0].pairs(n)
        distances = head_distances(attention, seen)
        heads = attention.tolist()
        expected = [
            [twin.divergence(head, other, seen.tolist()) for other in heads] for head in heads
        ]
        assert np.allclose(distances, expected, atol=1e-9)


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


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_tokens_does_not_matter_and_rows_add_up(seed):
    attention, seen = rows_of(seed, n=6), seen_by(6)
    distances = head_distances(attention, seen)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    turned = attention[:, order][:, :, order]
    assert np.allclose(head_distances(turned, seen), distances, atol=1e-12)
    parts = [head_distances(attention[:, [row]], seen[[row]]) for row in range(6)]
    assert np.allclose(sum(parts), distances, atol=1e-12)


def test_what_a_causal_query_cannot_see_is_not_counted():
    attention, seen = rows_of(3, n=6, is_causal=True), seen_by(6, is_causal=True)
    first = head_distances(attention[:, :1], seen[:1])
    assert not first.any(), "the first token has nothing to choose"
    changed = attention.clone()
    changed[1][~seen] = 0.7
    assert np.array_equal(head_distances(changed, seen), head_distances(attention, seen))


def test_single_precision_is_enough():
    attention = rows_of(4, heads=12, n=96)
    exact = head_distances(attention, seen_by(96))
    distances = head_distances(attention.float(), seen_by(96))
    assert distances.dtype == np.float64
    assert np.allclose(distances, exact, rtol=1e-5, atol=1e-5)


def test_half_precision_is_taken_up_to_single():
    attention = rows_of(5, n=7).bfloat16()
    distances = head_distances(attention, seen_by(7))
    assert np.array_equal(distances, head_distances(attention.float(), seen_by(7)))
