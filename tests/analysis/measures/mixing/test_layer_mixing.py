import dataclasses
from typing import Any

import pytest
import torch

from analysis.measures.mixing.activation_gate import GATES
from analysis.measures.mixing.completeness import layer_errors
from analysis.measures.mixing.layer_mixing import attention_mixing, layer_mixing
from analysis.models.trace import LayerTrace, in_dtype
from tests.reference.mixing import layer_mixing as reference


def with_activation(layer: LayerTrace, name: str) -> LayerTrace:
    forward = dataclasses.replace(layer.weights.feed_forward, activation=name)
    return dataclasses.replace(
        layer, weights=dataclasses.replace(layer.weights, feed_forward=forward)
    )


def in_float32(layer: LayerTrace) -> LayerTrace:
    return LayerTrace(**{k: in_dtype(v, torch.float32) for k, v in vars(layer).items()})


def misread(layer: LayerTrace, fault: str) -> LayerTrace:
    """The layer with one of its parameters, named by its path in the weights, turned round.

    Skips where the family has no such parameter.
    """

    def turned(owner: Any, path: list[str]) -> Any:
        if not path:
            if not owner.any():
                pytest.skip("the family has none")
            return owner.flip(0)
        name, *deeper = path
        if isinstance(owner, tuple):
            place = int(name) % len(owner)
            return (*owner[:place], turned(owner[place], deeper), *owner[place + 1 :])
        changed = turned(getattr(owner, name), deeper)  # which skips what is no field but zeros
        return dataclasses.replace(owner, **{name: changed})

    return dataclasses.replace(layer, weights=turned(layer.weights, fault.split(".")))


@pytest.fixture(scope="module")
def layers(traced_alone) -> list[LayerTrace]:
    return [layer for trace in traced_alone for layer in trace.layers]


def test_every_scope_is_what_the_vectors_written_out_say(layers):
    for layer in layers:
        mixing = layer_mixing(layer)
        expected = reference.norms(layer)
        for place, scope in enumerate(layer.weights.order.scopes):
            torch.testing.assert_close(mixing.maps[place], expected[scope], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
@pytest.mark.parametrize("activation", GATES)
def test_every_activation_follows_integrated_gradients(layers, activation):
    layer = with_activation(layers[0], activation)
    expected = reference.norms(layer, steps=4000)
    mixing = layer_mixing(layer)
    scopes = layer.weights.order.scopes
    for scope in scopes[4:]:
        norms = mixing.maps[scopes.index(scope)]
        torch.testing.assert_close(norms, expected[scope], rtol=2e-3, atol=2e-3)


def test_attention_with_its_residual_is_the_same_by_itself(layers):
    for layer in layers:
        order = layer.weights.order
        block = layer_mixing(layer).maps[order.scopes.index(order.attention_block)]
        torch.testing.assert_close(attention_mixing(layer), block, rtol=1e-9, atol=1e-12)


def test_ratios_are_those_of_the_summed_vectors(layers):
    for layer in layers:
        mixing = layer_mixing(layer)
        for scope, vectors in reference.layer_parts(layer).scopes.items():
            expected = reference.mixing_ratio(vectors)
            place = layer.weights.order.scopes.index(scope)
            torch.testing.assert_close(mixing.ratios[place], expected)


def test_the_ratio_of_weights_is_what_attention_gives_to_others(layers):
    for layer in layers:
        itself = layer.attention[0].diagonal(dim1=1, dim2=2).mean(dim=0)
        torch.testing.assert_close(layer_mixing(layer).ratios[0], 1 - itself)


def test_the_parts_of_every_layer_add_up_to_its_output(layers):
    for layer in layers:
        assert layer_mixing(layer).errors.max() < 1e-12
        parts = reference.layer_parts(layer)
        scope = layer.weights.order.whole
        rebuilt = parts.scopes[scope].sum(dim=1) + parts.biases[scope]
        torch.testing.assert_close(rebuilt, layer.output[0])


@pytest.mark.parametrize("budget", [1, 3000, 10**9])
def test_the_budget_changes_no_number(layers, budget):
    full, cut = layer_mixing(layers[0]), layer_mixing(layers[0], budget=budget)
    torch.testing.assert_close(cut.maps, full.maps, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(cut.ratios, full.ratios, rtol=1e-12, atol=1e-12)


def test_float32_stays_close_to_float64(layers):
    for layer in layers:
        wide, narrow = layer_mixing(layer), layer_mixing(in_float32(layer))
        assert narrow.errors.max() < 1e-5
        torch.testing.assert_close(narrow.maps.double(), wide.maps, rtol=1e-4, atol=1e-5)


def test_bfloat16_is_an_option_whose_error_is_told(layers):
    for layer in layers:
        wide, rough = layer_mixing(layer), layer_mixing(layer, dtype=torch.bfloat16)
        torch.testing.assert_close(rough.maps[:4], wide.maps[:4])
        if layer.weights.order.is_parallel:  # no pair has a hidden vector of its own
            torch.testing.assert_close(rough.maps, wide.maps)
        else:
            assert 1e-5 < rough.errors.max() < 5e-2


@pytest.mark.parametrize(
    "fault",
    ["feed_forward.output_weight", "feed_forward.input_bias", "norms.0.scale", "norms.0.shift",
     "norms.-1.scale", "norms.-1.shift", "output_bias"],
)  # fmt: skip
def test_misread_weights_are_noticed(layers, fault):
    weights = layers[0].weights
    layer = misread(layers[0], fault)
    mixing = layer_mixing(layer)
    if weights.order.read and fault.startswith("norms.0."):  # the values are the model's own
        written_out = reference.norms(layer)[weights.order.vectors]
        assert (mixing.maps[1] - written_out).abs().max() > 1e-2
    else:
        assert mixing.errors.max() > 1e-2


def test_biases_are_given_to_no_token(layers):
    """Without any bias vector the norms before the activation stay as they are."""
    layer = layers[0]
    parts = reference.layer_parts(layer)
    assert parts.biases[layer.weights.order.vectors].norm() > 0
    bare = dataclasses.replace(
        layer, weights=dataclasses.replace(
            layer.weights, output_bias=torch.zeros_like(layer.weights.output_bias)
        ),
    )  # fmt: skip
    torch.testing.assert_close(layer_mixing(bare).maps[:4], layer_mixing(layer).maps[:4])


def test_nothing_reaches_a_query_from_behind_in_a_causal_layer(layers):
    for layer in layers:
        maps = layer_mixing(layer).maps
        unseen = ~layer.weights.pairs(maps.shape[-1])
        assert not maps[:, unseen].any()
        assert bool(unseen.any()) == (layer.weights.is_causal and len(unseen) > 1)


def test_errors_are_held_against_what_the_rough_format_leaves_visible(layers):
    """An output a thousand times too small misses all, and is less than rounding of its parts."""
    for layer in layers:
        parts, scope = reference.layer_parts(layer), layer.weights.order.whole
        sent = parts.scopes[scope].sum(dim=1)
        sent = sent - layer.input[0] if layer.weights.order.keeps_stream else sent
        faint = dataclasses.replace(layer, output=layer.output / 1000)
        rough, fine = (
            layer_errors(faint, sent, parts.biases[scope], dtype)
            for dtype in (torch.bfloat16, torch.float64)
        )
        errors = layer_mixing(faint, dtype=torch.bfloat16).errors
        torch.testing.assert_close(errors, rough, rtol=0.05, atol=0)
        assert (fine > 10 * rough).all()
