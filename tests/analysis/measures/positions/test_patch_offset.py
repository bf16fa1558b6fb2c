import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.patch_offset import patch_offsets
from tests.reference.positions import patch_offset as reference

SIDES = st.integers(1, 5)


def _softmax(n, *, seed=0):
    scores = np.random.default_rng(seed).normal(scale=2, size=(2, n, n))
    return torch.from_numpy(scores).softmax(dim=-1)


def _looking(n_rows, n_columns, down, right):
    """A head whose patches look at one offset, and at nothing where the image ends before it."""
    place = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    attention = np.zeros((1, place.size, place.size))
    for (row, column), query in np.ndenumerate(place):
        if 0 <= row + down < n_rows and 0 <= column + right < n_columns:
            attention[0, query, place[row + down, column + right]] = 1
    return torch.from_numpy(attention)


@given(SIDES, SIDES, st.integers(0, 6), st.integers(0, 99))
def test_offsets_are_those_of_the_slow_twin(n_rows, n_columns, reach, seed):
    attention = _softmax(n_rows * n_columns, seed=seed)
    found = patch_offsets(attention, n_rows=n_rows, n_columns=n_columns, reach=reach)
    for head, matrix in enumerate(attention.tolist()):
        slow = reference.by_offset(matrix, n_rows, n_columns, reach)
        assert {(r, c) for r in found.rows for c in found.columns} == set(slow)
        expected = [slow[row, column] for row in found.rows for column in found.columns]
        told = np.stack([found.attention[head].ravel(), found.per_pair[head].ravel()], axis=1)
        np.testing.assert_allclose(told, expected, rtol=1e-12)


@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (0, -1), (-2, 3), (2, -3)])
def test_a_head_that_looks_at_one_offset_has_all_its_attention_there(down, right):
    attention = _looking(3, 5, down, right)
    found = patch_offsets(attention, n_rows=3, n_columns=5, reach=7)
    place = found.rows.tolist().index(down), found.columns.tolist().index(right)
    assert found.per_pair[0][place] == 1
    assert found.per_pair.sum() == 1
    assert found.attention[0][place] == (3 - abs(down)) * (5 - abs(right)) / 15


def test_the_next_patch_of_the_reading_order_is_two_offsets():
    """The first patch of a row follows the last of the row above, and is no neighbour of it."""
    attention = torch.diag(torch.ones(14), 1)[None]
    found = patch_offsets(attention, n_rows=3, n_columns=5, reach=7)
    row, column = found.attention[0].nonzero()
    told = set(zip(found.rows[row].tolist(), found.columns[column].tolist(), strict=True))
    assert told == {(0, 1), (1, -4)}


def test_even_attention_is_even_per_pair():
    found = patch_offsets(torch.full((1, 12, 12), 1 / 12), n_rows=3, n_columns=4, reach=7)
    np.testing.assert_allclose(found.per_pair, 1 / 12, rtol=1e-6)


def test_all_offsets_together_hold_all_attention():
    found = patch_offsets(_softmax(12), n_rows=3, n_columns=4, reach=3)
    np.testing.assert_allclose(found.attention.sum(axis=(1, 2)), 1, rtol=1e-12)
