"""The tree of heads, against joining groups by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from analysis.measures.heads.head_map import head_linkage

Matrix = list[list[float]]


def apart(one: frozenset[int], other: frozenset[int], distances: Matrix) -> float:
    """Mean distance of a member of one group and a member of the other."""
    return sum(distances[a][b] for a in one for b in other) / (len(one) * len(other))


def joins(distances: Matrix) -> list[tuple[frozenset[int], float]]:
    """The members of the group that every step makes, and the distance of the two it joined."""
    groups = [frozenset([head]) for head in range(len(distances))]
    steps = []
    while len(groups) > 1:
        height, one, other = min(
            (apart(one, other, distances), place, later)
            for place, one in enumerate(groups)
            for later, other in enumerate(groups)
            if place < later
        )
        joined = groups[one] | groups[other]
        groups = [group for place, group in enumerate(groups) if place not in (one, other)]
        groups.append(joined)
        steps.append((joined, height))
    return steps


def drawn(seed: int, n: int) -> np.ndarray:
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


def members(steps: np.ndarray, n: int) -> list[frozenset[int]]:
    """The heads in the group that every step made."""
    groups = [frozenset([head]) for head in range(n)]
    for left, right in steps[:, :2].astype(int):
        groups.append(groups[left] | groups[right])
    return groups[n:]


@given(seed=st.integers(0, 1000), n=st.integers(2, 9))
def test_steps_are_those_of_the_twin(seed, n):
    distances = drawn(seed, n)
    steps = head_linkage(distances)
    expected = joins(distances.tolist())
    assert members(steps, n) == [group for group, _ in expected]
    assert steps[:, 2] == pytest.approx([height for _, height in expected])
    assert steps[:, 3].tolist() == [len(group) for group, _ in expected]


def test_two_pairs_and_a_stranger_are_found():
    distances = np.full((5, 5), 10.0)
    distances[[0, 1, 2, 3], [1, 0, 3, 2]] = [1, 1, 2, 2]
    distances[:4, 4] = distances[4, :4] = 30
    np.fill_diagonal(distances, 0)
    steps = head_linkage(distances)
    assert members(steps, 5) == [{0, 1}, {2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}]
    assert steps[:, 2].tolist() == [1, 2, 10, 30]


def test_one_head_joins_nothing():
    assert head_linkage(np.zeros((1, 1))).shape == (0, 4)
