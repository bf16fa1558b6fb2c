import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.positions.offset_agreement import preferred_offsets
from tests.reference.positions import head_offset as reference

OFFSETS = np.arange(-3, 4)


@given(arrays(np.float64, (4, 7), elements=st.integers(-2, 2).map(float)))
def test_preferred_offsets_are_those_of_the_slow_twin_ties_included(values):
    expected = [reference.preferred_offset(row, OFFSETS.tolist()) for row in values.tolist()]
    assert preferred_offsets(values, OFFSETS).tolist() == expected


@pytest.mark.parametrize(
    ("values", "offset"),
    [
        ([1, 0, 0, 0, 0, 0, 2], 3),
        ([1, 0, 1, 0, 0, 0, 1], -1),
        ([0, 0, 5, 0, 5, 0, 0], -1),
        ([4, 4, 4, 4, 4, 4, 4], 0),
        ([-9, -8, -7, -6, -5, -4, -5], 2),
    ],
)
def test_of_equal_values_the_nearest_is_preferred_and_then_the_left(values, offset):
    assert preferred_offsets(np.array([values], dtype=float), OFFSETS).tolist() == [offset]


def test_a_causal_model_prefers_only_what_it_sees():
    assert preferred_offsets(np.array([[0.0, 3.0, 1.0]]), np.array([-2, -1, 0])).tolist() == [-1]
