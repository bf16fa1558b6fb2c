"""Propagation of relevance, against loops over tokens, cases by hand, and laws."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.relevance.relevance import Relevance, carried_relevance, value_distances
from analysis.relevance_rules import RULES
from tests.precompute.corpora.tiny import unhurried

LAYERS, HEADS, TOKENS, WIDTH = 3, 2, 5, 4


def carried(attention, values, start=None, *, dtype=torch.float64) -> Relevance:
    """One sequence without padding; layer, head and token are the first axes of what is given."""
    attention = torch.as_tensor(attention, dtype=dtype)[:, None]
    values = torch.as_tensor(values, dtype=dtype)[:, None]
    n = attention.shape[-1]
    start = torch.eye(n)[0] if start is None else torch.as_tensor(start)
    return carried_relevance(
        list(attention),
        list(values),
        start=start[None].to(dtype),
        is_token=torch.ones(1, n, dtype=torch.bool),
    )


def random_layers(seed: int, *, sharpness: float = 2.0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = np.random.default_rng(seed)
    scores = torch.from_numpy(draw.normal(0, sharpness, (LAYERS, HEADS, TOKENS, TOKENS)))
    return scores.softmax(dim=-1), torch.from_numpy(
        draw.normal(size=(LAYERS, HEADS, TOKENS, WIDTH))
    )


def test_three_tokens_worked_by_hand_tell_the_four_rules_apart():
    attention = [[[[1 / 2, 1 / 4, 1 / 4], [1, 0, 0], [0, 1, 0]]]]
    maps = carried(attention, [[[[0.0], [0.0], [3.0]]]]).heads.maps[:, 0, 0, 0]
    expected = [[3 / 4, 1 / 8, 1 / 8], [2 / 3, 1 / 9, 2 / 9], [4 / 7, 0, 3 / 7], [2 / 5, 0, 3 / 5]]
    np.testing.assert_allclose(maps, expected, atol=1e-15)


@given(st.integers(0, 2**31), st.sampled_from([0.1, 2.0, 40.0]))
@unhurried(25)
def test_relevance_is_conserved_and_never_negative(seed, sharpness):
    attention, values = random_layers(seed, sharpness=sharpness)
    single = carried(attention, values, dtype=torch.float32)
    for relevance in single.heads, single.mean_weights:
        assert (relevance.maps >= 0).all()
        np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-5)
        assert (relevance.conservation_error <= 1e-5).all()


def test_a_start_that_does_not_sum_to_1_is_seen_as_an_error_of_conservation():
    attention, values = random_layers(0)
    relevance = carried(attention, values, [0.5, 0, 0, 0.25, 0])
    np.testing.assert_allclose(relevance.heads.conservation_error, 0.25)


def test_constant_values_keep_relevance_in_place_and_are_counted():
    attention, _ = random_layers(3)
    relevance = carried(attention, torch.full((LAYERS, HEADS, TOKENS, WIDTH), 0.1))
    for rule in ("ii", "iii", "iv"):
        maps = relevance.heads.maps[RULES.index(rule), 0]
        assert (maps[..., 0] == 1).all(), rule
    n_layers = torch.arange(1, LAYERS + 1)[:, None].expand(-1, HEADS)
    expected = torch.stack([0 * n_layers, n_layers, 0 * n_layers, n_layers])
    assert (relevance.heads.n_in_place[:, 0] == expected).all()
    assert (relevance.heads.conservation_error[1:] == 0).all()
    assert (relevance.heads.maps[0, 0, ..., 0] < 1).all()


def test_one_token_keeps_everything():
    relevance = carried(torch.ones(2, 1, 1, 1), torch.full((2, 1, 1, 3), 0.3))
    assert (relevance.heads.maps == 1).all()
    assert relevance.heads.n_in_place[:, 0, 1, 0].tolist() == [0, 2, 0, 2]


def test_activations_too_small_to_divide_by_lose_nothing():
    """Token 0 is the mean itself and looks away only at a weight at the edge of float32."""
    attention = [[[[1, 1e-45, 0], [0, 1, 0], [0, 0, 1]]]]
    relevance = carried(attention, [[[[0.0], [1.0], [-1.0]]]], dtype=torch.float32).heads
    assert torch.isfinite(relevance.maps).all()
    np.testing.assert_allclose(relevance.maps.sum(dim=-1), 1, atol=1e-6)
    assert relevance.n_in_place[:, 0, 0, 0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_values_that_are_nearly_alike_are_told_apart(offset):
    draw = np.random.default_rng(4)
    values = (offset + 1e-3 * draw.normal(size=(1, 1, 6, 16))).astype(np.float32)
    deviation, distance = value_distances(
        torch.from_numpy(values), torch.ones(1, 6, dtype=torch.bool)
    )
    exact = values[0, 0].astype(np.float64)
    expected = np.linalg.norm(exact[:, None] - exact, axis=-1)
    np.testing.assert_allclose(distance[0, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(
        deviation[0, 0], np.linalg.norm(exact - exact.mean(axis=0), axis=-1), rtol=1e-6
    )


def test_equal_values_beside_far_ones_lie_at_no_distance_to_speak_of():
    values = torch.tensor([[[[1.0, 2.0], [1.0, 2.0], [1e4, -3e4]]]])
    deviation, distance = value_distances(values, torch.ones(1, 3, dtype=torch.bool))
    assert distance[0, 0, 0, 1] < 1e-3
    assert (distance[0, 0].diagonal() == 0).all()
    assert deviation[0, 0, 0] == deviation[0, 0, 1]


def test_padding_is_in_no_mean():
    values = torch.tensor([[[[0.0], [2.0], [100.0]]]])
    deviation, _ = value_distances(values, torch.tensor([[True, True, False]]))
    assert deviation[0, 0].tolist() == [1, 1, 0]


def test_a_head_of_tiny_values_is_no_other_beside_one_of_huge_values():
    """The largest deviation is that of a head by itself, since no rule sees a scale in it."""
    attention, values = random_layers(6)
    by_itself = carried(attention[:, :1], values[:, :1]).heads
    scaled = torch.stack([1e-30 * values[:, 0], 1e15 * values[:, 1]], dim=1)
    both = carried(attention, scaled, dtype=torch.float32).heads
    ii = RULES.index("ii")
    np.testing.assert_allclose(both.maps[ii, :, :, 0], by_itself.maps[ii, :, :, 0], atol=1e-5)
    assert not both.n_in_place[ii].any()
