"""Laws of tiny models of families, of routers, and of models with massive activations."""

from dataclasses import replace

import pytest
import torch

from analysis.error_limits import LIMITS
from analysis.errors import UnfitModel
from analysis.measures.mixing.completeness import attention_block_errors
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.positions.query_key_error import relative_errors as query_key_error
from analysis.models import attention
from analysis.models.router import Router
from analysis.models.trace import LayerTrace
from tests.massive import FAULTS, PLACES, SIZE, massive_model
from tests.tiny import OF_DECODERS, OF_ORDERS, TEXT_FAMILIES, tiny_sequences
from tests.tracing import controlled_layers, trace_of


@pytest.mark.parametrize("family", TEXT_FAMILIES, indirect=True, scope="session")
def test_the_longest_sequence_that_fits_runs_and_one_more_token_does_not(tiny):
    ids = torch.full((1, tiny.positions + 1), 7)

    def run(n: int) -> None:
        tiny.model(input_ids=ids[:, :n], attention_mask=torch.ones_like(ids[:, :n]))

    run(tiny.positions)
    with pytest.raises((IndexError, RuntimeError)):
        run(tiny.positions + 1)


def test_attention_with_an_unknown_term_is_refused_when_a_model_is_loaded(tiny, monkeypatch):
    tiny.proved()
    if not attention.attends_by_interface(tiny.model):
        return  # its own code computes the weights
    plain = attention._weights

    def changed(query, key, **terms):
        return plain(query, key, **terms | {"scaling": 1.01 * terms["scaling"]})

    monkeypatch.setattr(attention, "_weights", changed)
    with pytest.raises(UnfitModel, match="Attention weights of layer 1 differ from those of"):
        tiny.proved()


def test_permuted_positions_are_others_and_the_same_every_time(tiny, sequences):
    sequence = sequences[0]
    kept = trace_of(tiny, [sequence]).layers[0].attention
    one, again = (controlled_layers(tiny, sequence, "permuted")[0].attention for _ in range(2))
    assert not torch.equal(kept, one)
    assert torch.equal(one, again)


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
def test_the_parts_of_a_mixture_of_experts_add_up(family, tiny, traced_alone):
    routers = [layer.feed_forward.router is not None for layer in tiny.layers]
    assert routers == [True, family == "mixtral"], "the second layer of Qwen has no experts"
    for layer in traced_alone[1].layers:
        assert layer_mixing(layer).errors.max() < 1e-12


DTYPES = (torch.float32, torch.bfloat16)
OF_VISION = ("dinov3_vit", "vit", "dinov2")
CASES = [
    (name, PLACES[number % 2], DTYPES[number // 2 % 2])
    for number, name in enumerate((*TEXT_FAMILIES, *OF_DECODERS, *OF_ORDERS, *OF_VISION))
]
"""Every kind of family once, and every place in both formats."""
NO_BIASES = {
    "no first bias of the network": ("olmo2", "gemma2"),
    "no second bias of the network": ("olmo2", "gemma2"),
}
HIDDEN = {("olmo2", "every", torch.float32, "wrong activation")}
"""Faults that are not seen: massive gates let all through or nothing, whatever the activation."""


@pytest.mark.parametrize(
    ("name", "place", "dtype"), CASES, ids=[" ".join(map(str, case)) for case in CASES]
)
def test_every_misreading_is_seen_and_a_right_reading_passes(name, place, dtype):
    """In two sequences; DINOv2 spreads a position over its neighbours."""
    model, limit = massive_model(name, place, dtype=dtype), LIMITS[str(dtype).rpartition(".")[2]]
    traces = (trace_of(model, [sequence]) for sequence in tiny_sequences(name)[:2])
    layers = [layer for trace in traces for layer in trace.layers]
    assert max(layer.input.abs().max() for layer in layers) > SIZE / 2
    assert _worst(layers, dtype) < limit
    for layer in (trace for trace in layers if trace.weights.rotary is None):
        assert query_key_error(layer, dtype).max() < limit
    for fault, plant in FAULTS.items():
        if name not in NO_BIASES.get(fault, ()):
            misread = [replace(layer, weights=plant(layer.weights)) for layer in layers]
            is_seen = _worst(misread, dtype) > limit
            assert is_seen is not ((name, place, dtype, fault) in HIDDEN), fault


def _worst(layers: list[LayerTrace], dtype: torch.dtype) -> float:
    errors = []
    for layer in layers:
        is_token = torch.ones(layer.output.shape[:2], dtype=torch.bool)
        errors += [
            attention_block_errors(layer, is_token, dtype),
            layer_mixing(layer, dtype=dtype).errors,
        ]
    return max(error.max().item() for error in errors)
