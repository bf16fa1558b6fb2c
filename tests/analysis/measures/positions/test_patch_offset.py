import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.relative_position_profile import patch_offsets
from tests.reference.positions import patch_offset as reference

SIDES = st.integers(1, 5)


def _softmax(n, *, seed=0):
    scores = np.random.default_rng(seed).normal(scale=2, size=(2, n, n))
    return torch.from_numpy(scores).softmax(dim=-1)


@given(SIDES, SIDES, st.integers(0, 6), st.integers(0, 99))
def test_offsets_are_those_of_the_slow_twin(n_rows, n_columns, reach, seed):
    attention = _softmax(n_rows * n_columns, seed=seed)
    offsets = patch_offsets(attention, n_rows=n_rows, n_columns=n_columns, reach=reach)
    for head, matrix in enumerate(attention.tolist()):
        slow = reference.by_offset(matrix, n_rows, n_columns, reach)
        assert {(r, c) for r in offsets.rows for c in offsets.columns} == set(slow)
        expected = [slow[row, column] for row in offsets.rows for column in offsets.columns]
        actual = np.stack([offsets.attention[head].ravel(), offsets.per_pair[head].ravel()], axis=1)
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_the_next_patch_of_the_reading_order_is_two_offsets():
    """The first patch of a row follows the last of the row above, and is no neighbour of it."""
    attention = torch.diag(torch.ones(14), 1)[None]
    offsets = patch_offsets(attention, n_rows=3, n_columns=5, reach=7)
    row, column = offsets.attention[0].nonzero()
    steps = set(zip(offsets.rows[row].tolist(), offsets.columns[column].tolist(), strict=True))
    assert steps == {(0, 1), (1, -4)}
