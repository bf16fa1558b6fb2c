"""Attention by relative position: sums along diagonals, and the variance that they explain."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.positions import relative_position_profile as measure
from analysis.measures.positions.relative_position_profile import (
    diagonal_sums,
    position_dependence,
    window,
)
from pages.drawn.head_in_text import MAP_OF_HEAD
from tests.statistics.positions import slow_twins

MATRICES = st.integers(1, 7).flatmap(
    lambda n: arrays(np.float64, (2, n, n), elements=st.integers(-9, 9).map(float))
)


def _dependence(attention, *, is_causal=False, window=None):
    mask = {"is_causal": is_causal, "window": window}
    return position_dependence(attention, diagonal_sums(attention), **mask)


def _softmax(n, *, seed=0, is_causal=False, window=None):
    scores = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, n, n)))
    seen = torch.ones(n, n, dtype=torch.bool)
    if is_causal:
        seen = seen.tril()
    if window is not None:
        seen = seen.triu(-window).tril(window)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


@given(MATRICES)
def test_sums_along_diagonals_are_those_of_the_slow_twin(matrices):
    sums = diagonal_sums(torch.from_numpy(matrices)).tolist()
    n = matrices.shape[1]
    expected = [
        [slow_twins.diagonal_sum(matrix, t) for t in range(1 - n, n)]
        for matrix in matrices.tolist()
    ]
    assert sums == expected


def test_blocks_of_rows_change_no_sum(monkeypatch):
    matrices = _softmax(13)
    expected = diagonal_sums(matrices)
    for rows in (1, 3, 6, 12):
        monkeypatch.setattr(measure, "_ROWS", rows)
        torch.testing.assert_close(diagonal_sums(matrices), expected)


@pytest.mark.parametrize("n", [1, 4, 11, 30])
def test_a_window_has_every_offset_that_the_text_has_and_zeros_beyond(n):
    sums = diagonal_sums(_softmax(n))
    windowed = window(sums, 10, is_causal=False)
    for place, offset in enumerate(range(-10, 11)):
        inside = abs(offset) < n
        expected = sums[:, n - 1 + offset].numpy() if inside else np.zeros(3)
        np.testing.assert_array_equal(windowed[:, place], expected)


def test_a_causal_model_has_no_offsets_to_the_right():
    windowed = window(diagonal_sums(_softmax(12, is_causal=True)), 10, is_causal=True)
    assert np.isnan(windowed[:, 11:]).all()
    assert (windowed[:, :11] > 0).all()


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_dependence_is_that_of_the_slow_twin(n, is_causal):
    for span in (None, 2):
        mask = {"is_causal": is_causal, "window": span}
        attention = _softmax(n, **mask)
        expected = [slow_twins.position_dependence(matrix, **mask) for matrix in attention.tolist()]
        dependence = _dependence(attention, **mask)
        np.testing.assert_allclose(dependence, np.array(expected, dtype=float), rtol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 7, 49])
def test_weights_that_are_all_alike_leave_nothing_to_explain(n, dtype):
    assert np.isnan(_dependence(torch.full((2, n, n), 1 / n, dtype=dtype))).all()


@given(st.integers(2, 12), st.booleans(), st.integers(0, 100))
def test_dependence_is_a_share(n, is_causal, seed):
    dependence = _dependence(_softmax(n, seed=seed, is_causal=is_causal), is_causal=is_causal)
    assert ((dependence >= 0) & (dependence <= 1)).all()


def test_kept_maps_show_the_first_tokens_of_the_longest_texts(
    position_store, position_run, position_traces
):
    kept = position_run[1].exemplars
    assert len(kept) == 4
    for sequence in position_run[1].corpus:
        asked = {"layer": 2, "head": 1, "seq": sequence.index}
        cells = position_store.execute(MAP_OF_HEAD, asked).df()
        n = min(15, len(sequence)) if sequence.index in kept else 0
        assert len(cells) == n * n
        expected = position_traces[sequence.index].layers[1].attention[0, 0, :n, :n]
        np.testing.assert_allclose(cells["attention"], expected.flatten(), rtol=1e-4, atol=1e-6)
        tokens = list(sequence.tokens[:n])
        assert cells["query_token"].tolist() == [token for token in tokens for _ in tokens]
        assert cells["key_token"].tolist() == tokens * n
        assert cells["key_pos"].tolist() == list(range(n)) * n
