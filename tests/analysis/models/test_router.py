"""A router gives each token to a few experts, and the parts of a mixture add up."""

from dataclasses import replace

import pytest
import torch

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.router import Router
from tests.statistics.mixing import slow_layers as reference


class _Gate(torch.nn.Module):
    """Logits, then shares and indices of the two likeliest experts, as the library's routers
    return them."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))

    def forward(self, read):
        logits = read @ self.weight
        shares, index = logits.softmax(dim=-1).topk(2, dim=-1)
        return logits, shares, index


def test_only_the_chosen_experts_have_a_share_and_each_of_its_units_has_it():
    read = torch.tensor([[0.0, 1.0, 3.0]], dtype=torch.float64)
    router, likely = Router(_Gate(), n_experts=3), read[0].softmax(dim=0)
    wanted = torch.tensor([[0.0, likely[1], likely[2]]], dtype=torch.float64)
    torch.testing.assert_close(router.shares(read), wanted)
    torch.testing.assert_close(router.of_units(read, 6), wanted.repeat_interleave(2, dim=1))


def test_an_expert_that_all_tokens_share_has_the_share_of_its_gate():
    read = torch.tensor([[[0.0, 1.0, 3.0]]], dtype=torch.float64)
    gate = torch.nn.Linear(3, 1, bias=False).double()
    plain = Router(_Gate(), n_experts=3, n_shared=2)
    gated = Router(_Gate(), n_experts=3, n_shared=2, shared_gate=gate)
    assert plain.of_units(read, 5)[0, 0, 3:].tolist() == [1, 1]
    share = gate(read).sigmoid().item()
    assert gated.of_units(read, 5)[0, 0, 3:].tolist() == pytest.approx([share, share])


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
