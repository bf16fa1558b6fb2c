"""A router gives each token to a few experts, and the parts of a mixture add up."""

import pytest
import torch

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.router import Router
from tests.statistics.mixing import slow_layers as reference


class _Gate(torch.nn.Module):
    """Logits, then shares and indices of the two likeliest experts, as the library returns them."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))

    def forward(self, read):
        logits = read @ self.weight
        return logits, *logits.softmax(dim=-1).topk(2, dim=-1)


def test_only_the_chosen_experts_have_a_share_and_those_that_all_tokens_share_that_of_their_gate():
    read = torch.tensor([[[0.0, 1.0, 3.0]]], dtype=torch.float64)
    _, *likely = read[0, 0].softmax(dim=0).tolist()
    gate = torch.nn.Linear(3, 1, bias=False).double()
    for shared_gate, share in ((None, 1.0), (gate, gate(read).sigmoid().item())):
        router = Router(_Gate(), n_experts=3, n_shared=2, shared_gate=shared_gate)
        assert router.of_units(read, 5)[0, 0].tolist() == pytest.approx([0, *likely, share, share])


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe"], indirect=True, scope="session")
def test_every_scope_of_a_mixture_is_what_the_vectors_written_out_say(family, tiny, traced_alone):
    routers = [layer.feed_forward.router is not None for layer in tiny.layers]
    assert routers == [True, family == "mixtral"], "the second layer of Qwen has no experts"
    for layer in traced_alone[1].layers:
        mixing, expected = layer_mixing(layer), reference.norms(layer)
        for place, scope in enumerate(layer.weights.order.scopes):
            torch.testing.assert_close(mixing.maps[place], expected[scope], rtol=1e-9, atol=1e-9)
        assert mixing.errors.max() < 1e-12
