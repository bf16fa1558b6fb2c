"""Layout of heads in a plane, for exact and inexact distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from analysis.measures.heads.head_map import head_layout


def between(points: np.ndarray) -> np.ndarray:
    return squareform(pdist(points))


def drawn(seed: int, n: int, dimensions: int) -> np.ndarray:
    return between(np.random.default_rng(seed).normal(size=(n, dimensions)))


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(3, 8))
def test_what_lies_in_a_plane_is_found_there(seed, n):
    distances = drawn(seed, n, 2)
    layout = head_layout(distances)
    assert layout is not None
    assert layout.stress == pytest.approx(0, abs=1e-3)
    assert between(layout.points) == pytest.approx(distances, abs=0.02)


def test_a_fixed_seed_gives_the_same_picture_and_larger_distances_a_larger_one():
    distances = drawn(1, 10, 5)
    layout, again, larger = (
        head_layout(matrix) for matrix in (distances, distances, 4 * distances)
    )
    assert layout
    assert again
    assert larger
    assert np.array_equal(layout.points, again.points)
    assert larger.stress == pytest.approx(layout.stress, rel=1e-3)


def test_the_widest_axis_lies_across_and_its_farthest_point_on_the_right():
    distances = between(np.array([[0.0, 0], [1, 0.3], [2, -0.2], [3, 0.1], [9, 0]]))
    layout = head_layout(distances)
    assert layout is not None
    x, y = layout.points.T
    assert x.std() > y.std()
    assert np.cov(x, y)[0, 1] == pytest.approx(0, abs=1e-9)
    for axis in (x, y):
        assert axis.mean() == pytest.approx(0, abs=1e-9)
        assert np.abs(axis).max() == axis.max()
    assert x.argmax() == 4


def test_two_heads_are_as_far_apart_as_they_are():
    layout = head_layout(np.array([[0.0, 0.4], [0.4, 0.0]]))
    assert layout is not None
    assert between(layout.points)[0, 1] == pytest.approx(0.4, rel=1e-3)


def test_heads_that_do_not_differ_have_no_stress():
    layout = head_layout(np.zeros((3, 3)))
    assert layout is not None
    assert layout.stress is None
    assert not layout.points.any()


def test_one_head_has_no_layout():
    assert head_layout(np.zeros((1, 1))) is None
