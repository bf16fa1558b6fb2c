"""The form's factors and rotation are the dense ones, and no choice of a routine changes them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.query_key_form import (
    HeadRotation,
    QueryKeyFactors,
    query_key_rotation,
)
from tests.precompute.corpora.tiny import unhurried
from tests.statistics.positions.slow_twins import dense_form, nearest_rotation
from tests.tiny import every_family

SEEDS = st.integers(0, 2**32 - 1)


def matrix_of(rotation: HeadRotation) -> np.ndarray:
    """T on all of affine space, put together from its parts."""
    waves = rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors
    turned = waves @ torch.diag(torch.exp(1j * rotation.phases).to(waves)) @ waves.mH
    assert turned.imag.abs().max() < 1e-6
    beside = torch.eye(len(rotation.basis)).to(rotation.basis) - rotation.basis @ rotation.basis.mT
    return (turned.real + beside).numpy()


def rotation_of(queries, keys, values=None) -> HeadRotation:
    values = np.arange(queries.shape[1], 0, -1.0) if values is None else values
    parts = (torch.from_numpy(np.array(side))[None] for side in (queries, values, keys))
    return query_key_rotation(QueryKeyFactors(*parts))[0]


def random_orthogonal(n, random):
    """A matrix drawn uniformly from the orthogonal ones."""
    q, r = np.linalg.qr(random.standard_normal((n, n)))
    return q * np.sign(np.diag(r))


def random_columns(n, rank, random):
    return random_orthogonal(n, random)[:, :rank]


@every_family
def test_the_factors_rebuild_the_product(tiny):
    for weights in tiny.layers:
        factors = weights.query_key
        rebuilt = (factors.query * factors.values[:, None, :]) @ factors.key.mT
        for found, (product, *_) in zip(rebuilt, dense_form(weights), strict=True):
            np.testing.assert_allclose(found, product, atol=1e-12)


@every_family
def test_it_is_the_dense_one_on_every_family(tiny):
    for weights in tiny.layers:
        for rotation, (_, left, values, right) in zip(
            weights.query_key_rotation, dense_form(weights), strict=True
        ):
            np.testing.assert_allclose(
                matrix_of(rotation), nearest_rotation(left, values, right), atol=1e-9
            )


@unhurried(25)
@given(SEEDS)
def test_null_spaces_joint_signs_and_turns_within_equal_values_change_nothing(seed):
    random = np.random.default_rng(seed)
    n, values = 11, np.array([3.0, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0])
    left, right = random_orthogonal(n, random), random_orthogonal(n, random)
    turn, signs = np.eye(5), np.diag(random.choice([-1.0, 1], 5))
    turn[1:4, 1:4] = random_orthogonal(3, random)
    before = rotation_of(left[:, :5], right[:, :5], values[:5])
    after = rotation_of(left[:, :5] @ turn @ signs, right[:, :5] @ turn @ signs, values[:5])
    np.testing.assert_allclose(matrix_of(after), matrix_of(before), atol=1e-7)
    np.testing.assert_allclose(after.phases, before.phases, atol=1e-7)
    for side in (left, right):
        side[:, 5:] = side[:, 5:] @ random_orthogonal(n - 5, random)
    np.testing.assert_allclose(matrix_of(before), nearest_rotation(left, values, right), atol=1e-7)


@unhurried(25)
@given(SEEDS)
def test_vectors_are_unitary_and_phases_come_in_pairs_in_ascending_order(seed):
    random = np.random.default_rng(seed)
    rotation = rotation_of(random_columns(9, 4, random), random_columns(9, 4, random))
    size = len(rotation.phases)
    np.testing.assert_allclose(rotation.vectors.mH @ rotation.vectors, np.eye(size), atol=1e-12)
    phases = rotation.phases.numpy()
    assert (np.diff(phases) >= 0).all()
    assert (phases > -np.pi).all()
    assert phases[-1] <= np.pi
    paired = phases[phases < np.pi - 1e-6]
    np.testing.assert_allclose(np.sort(paired), np.sort(-paired), atol=1e-9)


@pytest.mark.parametrize(
    ("angle", "phases"), [(0.4, [-0.4, 0.4]), (np.pi / 2, [-np.pi / 2, np.pi / 2]), (2, [0, np.pi])]
)
def test_a_single_query_is_rotated_to_a_right_angle_and_beyond_it_reflected(angle, phases):
    query, beside = np.eye(5)[:, :1], np.eye(5)[:, 1:2]
    rotation = rotation_of(query, np.cos(angle) * query + np.sin(angle) * beside)
    np.testing.assert_allclose(rotation.phases, phases, atol=1e-9)


@unhurried(25)
@given(SEEDS)
def test_keys_orthogonal_to_all_queries_are_turned_back_by_a_quarter(seed):
    random = np.random.default_rng(seed)
    both = random_columns(9, 6, random)
    queries, keys = both[:, :3], both[:, 3:]
    matrix = matrix_of(rotation_of(queries, keys))
    beside = np.eye(9) - both @ both.T
    np.testing.assert_allclose(matrix, keys @ queries.T - queries @ keys.T + beside, atol=1e-9)
    turn = random_orthogonal(3, random)
    equal = np.ones(3)
    again = matrix_of(rotation_of(queries @ turn, keys @ turn, equal))
    np.testing.assert_allclose(again, matrix, atol=1e-9)


def test_a_head_that_compares_nothing_has_no_rotation():
    random = np.random.default_rng(4)
    rotation = rotation_of(random_columns(9, 2, random), random_columns(9, 2, random), np.zeros(2))
    assert rotation.phases.numel() == 0
    assert rotation.basis.shape == (9, 0)


def test_in_float32_it_stays_a_rotation_of_queries_to_keys():
    random = np.random.default_rng(5)
    left, right = (random_columns(65, 16, random).astype(np.float32) for _ in range(2))
    values = np.arange(16, 0, -1, dtype=np.float32)
    rotation = rotation_of(left, right, values)
    assert rotation.basis.dtype == torch.float32
    np.testing.assert_allclose(matrix_of(rotation) @ left, right, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_scale_of_the_scores_decides_nothing(scale):
    random = np.random.default_rng(6)
    left, right = random_columns(9, 3, random), random_columns(9, 3, random)
    values = np.array([1.0, 1e-3, 1e-8])
    expected = matrix_of(rotation_of(left[:, :2], right[:, :2]))
    np.testing.assert_allclose(
        matrix_of(rotation_of(left, right, scale * values)), expected, atol=1e-12
    )
