"""A router gives each token to a few experts, and the parts of a mixture add up."""

from dataclasses import replace

import pytest
import torch

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.router import Router
from tests.statistics.mixing import slow_layers as reference


def test_only_the_likeliest_experts_count_and_their_shares_sum_to_one():
    router = Router(torch.eye(3, dtype=torch.float64), n_used=2, is_normalised=True)
    shares = router.shares(torch.tensor([[0.0, 1.0, 3.0]], dtype=torch.float64))
    likely = torch.tensor([1.0, 3.0], dtype=torch.float64).softmax(dim=0)
    torch.testing.assert_close(shares, torch.tensor([[0.0, *likely.tolist()]], dtype=torch.float64))


def test_shares_that_are_not_normalised_are_those_of_all_experts():
    router = Router(torch.eye(3, dtype=torch.float64), n_used=1, is_normalised=False)
    read = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    assert router.shares(read)[2] == pytest.approx(read.softmax(dim=0)[2].item())


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe"], indirect=True, scope="session")
def test_a_mixture_that_is_read_without_its_router_does_not_add_up(traced_alone, tiny):
    layer = traced_alone[0].layers[0]
    network = replace(layer.weights.feed_forward, router=None)
    wrong = replace(layer, weights=replace(layer.weights, feed_forward=network))
    assert tiny.layers[0].feed_forward.router is not None
    assert layer_mixing(wrong).errors.max() > 1e-3


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe"], indirect=True, scope="session")
def test_every_scope_of_a_mixture_is_what_the_vectors_written_out_say(traced_alone):
    for layer in traced_alone[1].layers:
        mixing, expected = layer_mixing(layer), reference.norms(layer)
        for place, scope in enumerate(layer.weights.order.scopes):
            torch.testing.assert_close(mixing.maps[place], expected[scope], rtol=1e-9, atol=1e-9)
        assert mixing.errors.max() < 1e-12


@pytest.mark.parametrize("family", ["qwen3_moe"], indirect=True, scope="session")
def test_a_layer_without_experts_has_no_router(tiny):
    assert [layer.feed_forward.router is None for layer in tiny.layers] == [False, True]
