import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.positions.relative_position_profile import (
    diagonal_sums,
    position_dependence,
    window,
)
from tests.reference.positions import relative_position_profile as reference

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
        [reference.diagonal_sum(matrix, t) for t in range(1 - n, n)] for matrix in matrices.tolist()
    ]
    assert sums == expected


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
        expected = [reference.position_dependence(matrix, **mask) for matrix in attention.tolist()]
        dependence = _dependence(attention, **mask)
        np.testing.assert_allclose(dependence, np.array(expected, dtype=float), rtol=1e-10)


def test_every_head_of_every_family_is_that_of_its_slow_twin(
    traced, traced_alone, sequences, attention_error
):
    """Taken out of a padded batch, and so of padding too."""
    for row, (sequence, alone) in enumerate(zip(sequences, traced_alone, strict=True)):
        for layer, twin in zip(traced.layers, alone.layers, strict=True):
            is_causal = layer.weights.is_causal
            attention = layer.of_sequence(row, len(sequence)).attention[0]
            slow = [
                reference.position_dependence(rows, is_causal=is_causal)
                for rows in twin.attention[0].tolist()
            ]
            dependence = _dependence(attention, is_causal=is_causal)
            np.testing.assert_allclose(
                dependence, np.array(slow, dtype=float), rtol=1e-8 + attention_error
            )
            sums = window(diagonal_sums(attention), 3, is_causal=is_causal)
            for head, matrix in enumerate(twin.attention[0].tolist()):
                for place, offset in enumerate(range(-3, 1 if is_causal else 4)):
                    expected = reference.diagonal_sum(matrix, offset)
                    assert sums[head, place] == pytest.approx(
                        expected, rel=1e-10 + attention_error, abs=1e-14
                    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 7, 49])
def test_weights_that_are_all_alike_leave_nothing_to_explain(n, dtype):
    assert np.isnan(_dependence(torch.full((2, n, n), 1 / n, dtype=dtype))).all()


@given(st.integers(2, 12), st.booleans(), st.integers(0, 100))
def test_dependence_is_a_share(n, is_causal, seed):
    dependence = _dependence(_softmax(n, seed=seed, is_causal=is_causal), is_causal=is_causal)
    assert ((dependence >= 0) & (dependence <= 1)).all()
