"""Models with rotary positions: rotated queries and keys, windows, shared keys."""

from typing import Any

import pytest
import torch
import transformers

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerTrace, LayerWeights
from analysis.scopes import PRE_NORM
from tests.tiny import tiny_model
from tests.tiny_decoders import DECODERS, EAGER, make_exact
from tests.tracing import trace_of, traced_layers

with_rotary_positions = pytest.mark.parametrize(
    "family", [*DECODERS, "modernbert"], indirect=True, scope="session"
)
N_TOKENS = 12
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}
SIZES: dict[str, Any] = {
    "vocab_size": 30,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "pad_token_id": None,
    **EAGER,
}
GEMMA: dict[str, Any] = {"num_key_value_heads": 1, "head_dim": 4, "sliding_window": 7}
ENCODER: dict[str, Any] = {"is_causal": False}
VARIANTS = {
    "an encoder": transformers.LlamaConfig(**SIZES | ENCODER),
    "an encoder with a window": transformers.MistralConfig(
        **SIZES | ENCODER, num_key_value_heads=1, sliding_window=3
    ),
    "an encoder of Gemma's": transformers.Gemma3TextConfig(
        **SIZES | GEMMA, use_bidirectional_attention=True
    ),
    "stretched": transformers.LlamaConfig(**SIZES, rope_parameters={"rope_theta": 50.0, **YARN}),
    "one block after the other": transformers.GPTNeoXConfig(**SIZES, use_parallel_residual=False),
}


def made_of_scores(layer: LayerTrace, weights: LayerWeights) -> torch.Tensor:
    """Attention by the weights alone."""
    scores = weights.scores(layer.attention_input)
    unseen = ~weights.pairs(scores.shape[-1])
    return weights.weights_of(scores.masked_fill(unseen, -torch.inf))


@with_rotary_positions
def test_in_float32_as_the_library_runs_it_parts_add_up_too(family, sequences):
    model = tiny_model(family, dtype=torch.float32)
    for layer in trace_of(model, sequences[:1]).layers:
        assert layer_mixing(layer).errors.max() < 1e-5
        made = made_of_scores(layer, layer.weights)
        torch.testing.assert_close(made, layer.attention, rtol=1e-4, atol=1e-5)


@pytest.fixture(params=VARIANTS)
def variant(request) -> tuple[str, tuple[LayerTrace, ...]]:
    """One text gone through a model of another configuration."""
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(VARIANTS[request.param]).eval().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    make_exact(model)
    ids = torch.randint(0, SIZES["vocab_size"], (1, N_TOKENS))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return request.param, traced_layers(model, inputs)


def test_other_configurations_are_read_as_the_model_runs_them(variant):
    for layer in variant[1]:
        assert layer_mixing(layer).errors.max() < 1e-12
        made = made_of_scores(layer, layer.weights)
        torch.testing.assert_close(made, layer.attention, rtol=1e-5, atol=1e-6)
        seen = (layer.attention > 0).all(dim=1)[0]
        assert torch.equal(seen, layer.weights.pairs(N_TOKENS))


def test_what_the_configuration_says_is_in_the_weights(variant):
    name, (layer, _) = variant
    weights = layer.weights
    assert weights.is_causal is ("encoder" not in name)
    expected = {"an encoder with a window": 3, "an encoder of Gemma's": 3}
    assert weights.window == expected.get(name)
    assert weights.rotary is not None
    assert (weights.rotary.scaling > 1.1) is (name == "stretched")
    if name == "one block after the other":
        assert weights.order is PRE_NORM


def test_a_score_depends_on_the_distance_alone():
    sides = torch.randn(2, 4, 9, 8, generator=torch.Generator().manual_seed(0)).double()
    rotary = Rotary(torch.tensor([1.0, 0.3, 0.1, 0.01], dtype=torch.float64))
    here, there = (
        rotary.turned(sides[0], start=start) @ rotary.turned(sides[1], start=start).mT
        for start in (0, 1000)
    )
    torch.testing.assert_close(here, there)
