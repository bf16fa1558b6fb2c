"""Heads that were shuffled are found again, whatever they are compared by."""

import numpy as np
import pytest

from analysis.comparison.heads import divergences, matched_heads

HEADS, SIZE = 12, 7


@pytest.fixture
def profiles() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.full(SIZE, 0.5), size=HEADS)


def slow_divergence(one: np.ndarray, other: np.ndarray) -> float:
    total, middle = 0.0, (one + other) / 2
    for side in (one, other):
        for share, mean in zip(side, middle, strict=True):
            total += share * np.log(share / mean) / 2 if share else 0.0
    return total


def test_divergences_are_those_of_the_slow_twin(profiles):
    distances = divergences(profiles, profiles[::-1])
    for row in range(HEADS):
        for column in range(HEADS):
            slow = slow_divergence(profiles[row], profiles[::-1][column])
            assert distances[row, column] == pytest.approx(slow, abs=1e-12)


def test_a_planted_permutation_is_found(profiles):
    order = np.random.default_rng(1).permutation(HEADS)
    noise = np.random.default_rng(2).dirichlet(np.full(SIZE, 5.0), size=HEADS)
    shuffled = np.empty_like(profiles)
    shuffled[order] = 0.98 * profiles + 0.02 * noise
    distances = divergences(profiles, shuffled)
    matching = matched_heads(distances)
    assert (matching.match == order).all()
    assert matching.matched == pytest.approx(distances[np.arange(HEADS), order].mean())
    assert matching.same == pytest.approx(np.trace(distances) / HEADS)
    assert matching.chance == pytest.approx(distances.mean())
    assert matching.matched < matching.same
