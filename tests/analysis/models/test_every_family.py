"""What every family's adapter must get right, on tiny models of known sizes."""

from itertools import pairwise

import pytest
import torch
from transformers.activations import ACT2FN

from analysis.errors import UnfitModel, UnknownName
from analysis.measures.activation_gate import activation_gate
from analysis.measures.completeness import attention_block_error, attention_sum_error
from analysis.measures.layer_mixing import layer_mixing
from analysis.models.adapter import adapter_for
from analysis.models.bert import ACTIVATIONS
from analysis.models.capture import attentions_of
from tests import tiny as sizes


def test_the_tiny_model_has_the_sizes_it_claims(tiny):
    config = tiny.model.config
    assert config.num_hidden_layers == sizes.LAYERS
    assert config.num_attention_heads == sizes.HEADS
    assert config.hidden_size == sizes.WIDTH
    assert tiny.positions == sizes.POSITIONS


def test_the_trace_has_every_layer_in_the_shapes_of_the_model(tiny, traced):
    batch, longest = traced.is_token.shape
    head_width = sizes.WIDTH // sizes.HEADS
    assert len(traced.layers) == sizes.LAYERS
    for layer in traced.layers:
        assert layer.input.shape == (batch, longest, sizes.WIDTH)
        assert layer.attention.shape == (batch, sizes.HEADS, longest, longest)
        assert layer.values.shape == (batch, sizes.HEADS, longest, head_width)


def test_the_attention_block_is_the_sum_of_its_parts(traced):
    for layer in traced.layers:
        assert attention_block_error(layer, traced.is_token).max() < 1e-13
        assert attention_sum_error(layer.attention, traced.is_token).max() < 1e-13


def test_layers_hand_on_what_they_put_out(traced):
    for layer, following in pairwise(traced.layers):
        assert following.input is layer.output


def test_the_whole_layer_is_the_sum_of_its_parts(traced, sequences):
    for row, sequence in enumerate(sequences):
        for layer in traced.layers:
            assert layer_mixing(layer.of_sequence(row, len(sequence))).error < 1e-12


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_that_is_covered_is_the_one_the_model_uses(tiny, name):
    hidden = torch.linspace(-4, 4, 99, dtype=torch.float64)
    gate = activation_gate(hidden, ACTIVATIONS[name])
    torch.testing.assert_close(gate * hidden, ACT2FN[name](hidden))


def test_values_are_made_of_the_layer_input_by_the_weights(traced):
    for layer in traced.layers:
        made = torch.einsum("btw,hwd->bhtd", layer.input, layer.weights.value_weight)
        made = made + layer.weights.value_bias[None, :, None, :]
        torch.testing.assert_close(made, layer.values)


def test_the_longest_sequence_that_fits_runs_and_one_more_token_does_not(tiny):
    ids = torch.full((1, tiny.positions + 1), 7)

    def run(n: int) -> None:
        tiny.model(input_ids=ids[:, :n], attention_mask=torch.ones_like(ids[:, :n]))

    run(tiny.positions)
    with pytest.raises((IndexError, RuntimeError)):
        run(tiny.positions + 1)


def test_attention_that_was_not_kept_is_an_error_and_not_an_empty_result(tiny):
    class Output:
        attentions = ()

    with pytest.raises(UnfitModel) as error:
        attentions_of(Output(), 2)
    assert str(error.value) == (
        "The model returned attention weights for 0 of its 2 layers. "
        "Load it with attn_implementation='eager': no other implementation keeps them."
    )


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (
            "hidden_act",
            "relu6",
            "The model's activation is 'relu6'; covered are gelu, gelu_new, gelu_pytorch_tanh, "
            "relu, silu, swish, tanh.",
        ),
        ("is_decoder", True, "The model is configured as a decoder; encoders are covered."),
        (
            "position_embedding_type",
            "relative_key",
            "The model's positions are 'relative_key'; learned 'absolute' ones are covered.",
        ),
    ],
)
def test_a_configuration_that_is_not_covered_is_refused(tiny, monkeypatch, setting, value, message):
    monkeypatch.setattr(tiny.model.config, setting, value, raising=False)
    with pytest.raises(UnfitModel) as error:
        tiny.adapter.check(tiny.model)
    assert str(error.value) == message


def test_unknown_family_is_told_the_nearest_and_the_known():
    with pytest.raises(UnknownName) as error:
        adapter_for("brt")
    assert str(error.value) == (
        "No model family is called 'brt'. Did you mean 'bert'? Known: bert, roberta."
    )
