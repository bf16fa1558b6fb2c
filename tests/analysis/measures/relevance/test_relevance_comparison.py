"""Published relevance methods, against loops over tokens, cases by hand, and laws."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.relevance.relevance_comparison import (
    gradient_attention,
    raw_attention,
    rolled_back,
)
from tests.precompute.corpora.tiny import unhurried
from tests.reference.relevance import relevance_comparison as twin


def start_of(n: int) -> torch.Tensor:
    start = torch.zeros(n, dtype=torch.float64)
    start[0], start[-1] = 0.75, start[-1] + 0.25
    return start / start.sum()


def test_raw_attention_follows_its_slow_twin(traced_alone):
    for trace in traced_alone:
        start = start_of(trace.is_token.shape[1])
        for layer in trace.layers:
            relevance = raw_attention(layer.attention[0], start)
            expected = [twin.weighed_rows(start.tolist(), h) for h in layer.attention[0].tolist()]
            np.testing.assert_allclose(relevance, expected, rtol=1e-9)


def test_rollouts_follow_their_slow_twin_for_every_scope(traced_alone):
    for trace in traced_alone:
        start = start_of(trace.is_token.shape[1]).numpy()
        layers = [layer_mixing(layer).maps.numpy() for layer in trace.layers]
        for scope in range(len(layers[0])):
            maps = [layer[scope] for layer in layers]
            for depth, relevance in enumerate(rolled_back(maps, start), start=1):
                expected = twin.rolled_back([m.tolist() for m in maps[:depth]], start.tolist())
                np.testing.assert_allclose(relevance, expected, rtol=1e-9)


def drawn(seed: int, n_layers: int = 3) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    draw = np.random.default_rng(seed)
    shape = (n_layers, 2, 4, 4)
    attention = torch.from_numpy(draw.normal(size=shape)).softmax(dim=-1)
    return list(attention), list(torch.from_numpy(draw.normal(size=shape)))


@given(st.integers(0, 2**31))
@unhurried()
def test_gradient_attention_follows_its_slow_twin_and_sums_to_1(seed):
    attention, gradients = drawn(seed)
    relevance = gradient_attention(attention, gradients, start_of(4))
    expected = twin.gradient_attention(
        [layer.tolist() for layer in attention],
        [layer.tolist() for layer in gradients],
        start_of(4).tolist(),
    )
    np.testing.assert_allclose(relevance, expected, rtol=1e-9)
    assert (relevance >= 0).all()
    assert relevance.sum().item() == pytest.approx(1)


def test_gradient_attention_worked_by_hand_tells_who_gives_to_whom():
    """Ā is 1 from token 0 to token 1 in the first layer and back in the second."""
    first, second = torch.zeros(2, 1, 2, 2, dtype=torch.float64)
    first[0, 0, 1] = second[0, 1, 0] = 1
    start = torch.tensor([0.0, 1.0], dtype=torch.float64)
    gradients = [torch.ones_like(first)] * 2
    # after the first layer row 0 is (1, 1) and row 1 (0, 1); the second adds row 0 to row 1
    relevance = gradient_attention([first, second], gradients, start)
    np.testing.assert_allclose(relevance, [1 / 3, 2 / 3])


def test_only_gradients_that_speak_for_the_class_count():
    attention, gradients = drawn(0)
    start = start_of(4)
    against = [-gradient.abs() for gradient in gradients]
    np.testing.assert_allclose(gradient_attention(attention, against, start), start)
    beside = [torch.cat([g, -g.abs()]) for g in gradients]
    twice = [torch.cat([a, a]) for a in attention]
    halved = gradient_attention(attention, [g / 2 for g in gradients], start)
    np.testing.assert_allclose(gradient_attention(twice, beside, start), halved)
