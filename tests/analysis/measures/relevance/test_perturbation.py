"""Curves of going and coming patches, against a loop that takes them one by one, and as laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.perturbation import area_under_curve, kept_patches, removal_order
from tests.precompute.corpora.tiny import unhurried
from tests.reference.relevance import perturbation as twin

RELEVANCE = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5]), min_size=1, max_size=23)
SEED = st.integers(0, 2**31)


def draw_of(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(n)


@given(RELEVANCE, SEED)
@unhurried()
def test_the_most_relevant_patch_that_is_left_goes_first(relevance, seed):
    draw = draw_of(len(relevance), seed)
    order = removal_order(np.array(relevance), draw).tolist()
    assert order == twin.order(relevance, draw.tolist())


@given(RELEVANCE, SEED, st.integers(1, 12))
@unhurried()
def test_curves_of_any_score_are_those_of_the_twin(relevance, seed, n_steps):
    order = removal_order(np.array(relevance), draw_of(len(relevance), seed))
    weights = np.random.default_rng(seed + 1).random(len(order))

    def score(kept: list[bool]) -> float:
        return float(np.tanh(weights @ np.array(kept)))

    for kept, insertion in zip(kept_patches(order, n_steps), (False, True), strict=True):
        expected = twin.curve(order.tolist(), n_steps, score, insertion=insertion)
        curve = [score(mask) for mask in kept.tolist()]
        assert curve == pytest.approx(expected, rel=1e-12)
        area = area_under_curve(np.array([curve]))[0]
        assert area == pytest.approx(twin.area(expected), rel=1e-12)


def test_five_patches_in_five_steps_by_hand():
    order = removal_order(np.array([0.1, 0.4, 0.2, 0.3, 0.0]), np.arange(5))
    assert order.tolist() == [1, 3, 2, 0, 4]
    deletion, insertion = kept_patches(order, 5)
    assert deletion.astype(int).tolist() == [
        [1, 1, 1, 1, 1],
        [1, 0, 1, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 0, 0, 1],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
    ]
    assert (insertion == ~deletion).all()


def test_steps_are_whole_patches_with_halves_rounded_upwards():
    deletion, _ = kept_patches(np.arange(5), 10)
    assert (~deletion).sum(axis=1).tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    deletion, _ = kept_patches(np.arange(64), 10)
    assert (~deletion).sum(axis=1).tolist() == [0, 6, 13, 19, 26, 32, 38, 45, 51, 58, 64]
