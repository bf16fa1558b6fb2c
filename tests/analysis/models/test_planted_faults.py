"""Faults planted into the weights that were read: the proof refuses each, and names its part."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.models.norm import NoNorm
from analysis.models.proof import PARTS, prove
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from analysis.models.trace import LayerWeights, in_dtype
from tests.analysis.models.every_type import tiny_type

SAYS = {
    "norm": "the norm before attention differs",
    "values": "values differ",
    "weights": "attention weights, made of queries and keys, differ",
    "attention": "vectors times weights do not add up",
    "network": "attention, residual, norms and network do not add up",
}
Fault = Callable[[LayerWeights], LayerWeights]


def _with(**changes: Callable[[Any], Any]) -> Fault:
    """Return the fault that changes fields of a layer's weights."""
    return lambda layer: replace(
        layer, **{name: change(getattr(layer, name)) for name, change in changes.items()}
    )


def _of_network(**changes: Callable[[Any], Any]) -> Fault:
    return _with(
        feed_forward=lambda network: replace(
            network, **{name: change(getattr(network, name)) for name, change in changes.items()}
        )
    )


def _norm(place: int) -> Fault:
    def changed(norms: tuple[Any, ...]) -> tuple[Any, ...]:
        other = list(norms)
        other[place] = replace(norms[place], scale=norms[place].scale.roll(1))
        return tuple(other)

    return _with(norms=changed)


def _shift(place: int) -> Fault:
    def dropped(norms: tuple[Any, ...]) -> tuple[Any, ...]:
        other = list(norms)
        other[place] = replace(norms[place], shift=torch.zeros_like(norms[place].shift))
        return tuple(other)

    return _with(norms=dropped)


def _of_latent(side: str, change: Callable[[Any], Any]) -> Fault:
    return _with(**{f"{side}_latent": change})


def _of_gate(change: Callable[[Any], Any]) -> Fault:
    return _with(gate=change)


def _next_head(heads: torch.Tensor) -> torch.Tensor:
    return heads.roll(1, dims=0)


def _next_group(heads: torch.Tensor) -> torch.Tensor:
    return heads.roll(2, dims=0)  # tiny models have two heads for every key


def _next_channel(weight: torch.Tensor) -> torch.Tensor:
    return weight.roll(1, dims=-1)


def _twice(part: Any) -> Any:
    return part * 2


def _next_plane(rotary: Any) -> Any:
    return replace(rotary, frequencies=rotary.frequencies.roll(1))


zero = torch.zeros_like
_HEADS: dict[str, tuple[Fault, str]] = {
    "queries in another order of heads": (_with(query_weight=_next_head), "weights"),
    "heads in another order": (
        _with(value_weight=_next_head, value_bias=_next_head, output_weight=_next_head),
        "values",
    ),
    "outputs in another order of heads": (_with(output_weight=_next_head), "attention"),
    "another scale of scores": (_with(score_scale=_twice), "weights"),
    "the network's norm of another channel": (_norm(-1), "network"),
    "a cap on scores": (_with(score_cap=lambda cap: 1.0), "weights"),
}
_BIASES: dict[str, tuple[Fault, str]] = {
    "no bias of queries": (_with(query_bias=zero), "weights"),
    "no bias of values": (_with(value_bias=zero), "values"),
    "no bias of the output": (_with(output_bias=zero), "attention"),
    "no bias of the hidden layer": (_of_network(input_bias=zero), "network"),
    "no bias of the network": (_of_network(output_bias=zero), "network"),
    "no shift of a norm": (_shift(-1), "network"),
}
_ROTATED: dict[str, tuple[Fault, str]] = {
    "planes one further": (_with(rotary=_next_plane), "weights"),
    "no rotation": (_with(rotary=lambda _: None), "weights"),
}
_GROUPED: dict[str, tuple[Fault, str]] = {
    "keys of another group": (_with(key_weight=_next_group, key_bias=_next_group), "weights"),
    "values of another group": (_with(value_weight=_next_group), "values"),
}
_GATED: dict[str, tuple[Fault, str]] = {
    "gates for inputs": (
        lambda layer: _of_network(
            gate_weight=lambda _: layer.feed_forward.input_weight,
            input_weight=lambda _: layer.feed_forward.gate_weight,
        )(layer),
        "network",
    ),
    "no gates": (_of_network(gate_weight=lambda _: None, gate_bias=lambda _: None), "network"),
}
_OF_LATENTS: dict[str, tuple[Fault, str]] = {
    f"{fault} of {side}": (_of_latent(side, change), part)
    for side, part in (("query", "weights"), ("key", "weights"), ("value", "values"))
    for fault, change in {
        "no latent norm": lambda latent: replace(latent, norm=NoNorm(zero(latent.norm.scale))),
        "a latent norm of another channel": lambda latent: replace(
            latent, norm=replace(latent.norm, scale=latent.norm.scale.roll(1))
        ),
        "another latent": lambda latent: replace(latent, weight=latent.weight.roll(1, dims=1)),
    }.items()
}
_OF_GATES: dict[str, tuple[Fault, str]] = {
    "no gate after attention": (_with(gate=lambda _: None), "attention"),
    "the gate of another head": (
        _of_gate(lambda gate: replace(gate, weight=_next_head(gate.weight))), "attention",
    ),
    "half of the gate": (
        _of_gate(lambda gate: replace(gate, weight=gate.weight / 2)), "attention",
    ),
    "the gate of the layer's input": (
        lambda layer: _of_gate(
            lambda gate: replace(gate, weight=gate.weight / layer.norms[0].scale[:, None])
        )(layer),
        "attention",
    ),
}  # fmt: skip
_FIRST_NORM: dict[str, tuple[Fault, str]] = {
    "the first norm of another channel": (_norm(0), "norm")
}
_WINDOW: dict[str, tuple[Fault, str]] = {
    "a window one wider": (_with(window=lambda window: window + 1), "weights"),
    "a window one narrower": (_with(window=lambda window: window - 1), "weights"),
}


def _activation(name: str) -> dict[str, tuple[Fault, str]]:
    return {f"the activation {name}": (_of_network(activation=lambda _: name), "network")}


FAULTS: dict[str, dict[str, tuple[Fault, str]]] = {
    "bert": _HEADS | _BIASES | _activation("gelu_tanh"),
    "mistral": _HEADS | _FIRST_NORM | _ROTATED | _GROUPED | _GATED | _WINDOW | _activation("gelu"),
    "qwen3": _ROTATED
    | _GROUPED
    | {"no norm of queries": (_with(query_norm=lambda _: None), "weights")}
    | _activation("relu"),
    "granite": {
        "no multiplier of attention": (_with(output_weight=_twice), "attention"),
        "no multiplier of the network": (_of_network(output_weight=_twice), "network"),
        "no multiplier of scores": (_with(score_scale=lambda _: 8**-0.5), "weights"),
    },
    "deepseek_v3": _HEADS
    | _ROTATED
    | _OF_LATENTS
    | {"rotated keys of another channel": (_with(direct_key_weight=_next_channel), "weights")},
    "afmoe": _HEADS | _GROUPED | _OF_GATES,
    "laguna": _OF_GATES,
    "phi": _HEADS
    | _FIRST_NORM
    | _ROTATED
    | _GROUPED
    | {name: fault for name, fault in _BIASES.items() if "norm" not in name}
    | {"no bias of keys": (_with(key_bias=zero), "weights")}
    | _activation("gelu"),
    "gemma2": _HEADS
    | _FIRST_NORM
    | _ROTATED
    | _GROUPED
    | _GATED
    | {"no cap on scores": (_with(score_cap=lambda _: None), "weights")}
    | {"a norm behind attention of another channel": (_norm(1), "network")}
    | _activation("gelu"),
    "vit": _HEADS | _FIRST_NORM | _BIASES | _activation("quick_gelu"),
    "t5": {name: fault for name, fault in _HEADS.items() if "scale" not in name}
    | _FIRST_NORM
    | {"no terms of distance": (_with(offset_terms=lambda _: None), "weights")}
    | _activation("gelu"),
}
"""Faults by type of model: a post-norm encoder, gated decoders with groups and rotation, one with
multipliers, a parallel one, one with norms around blocks, of images, with terms of distance."""
UNSEEN: dict[str, Fault] = {
    "no bias of keys": _with(key_bias=zero),
    "keys and queries in another order of coordinates": _with(
        query_weight=lambda weight: weight.flip(-1),
        query_bias=lambda bias: bias.flip(-1),
        key_weight=lambda weight: weight.flip(-1),
        key_bias=lambda bias: bias.flip(-1),
    ),
}
"""Faults in a model without rotation that change no attention weight: softmax takes no notice of
what all keys of a query have in common."""


@cache
def reading_of(model_type: str) -> Reading:
    reading = read_model(tiny_type(model_type))
    layers = tuple(in_dtype(layer, torch.float64) for layer in reading.layers)
    return replace(reading, layers=layers)


def proved(reading: Reading, layers: tuple[LayerWeights, ...]) -> float:
    """Return the largest error of all parts."""
    with in_float64(reading.model):
        inputs = reading.inputs(random_inputs(reading.model))
        found = prove(reading.model, reading.parts, layers, inputs)
    return max(found.worst(part) for part in PARTS)


def planted(reading: Reading, fault: Fault) -> tuple[LayerWeights, ...]:
    """Plant a fault into the second layer."""
    first, second, *others = reading.layers
    return (first, fault(second), *others)


@pytest.mark.parametrize(
    ("model_type", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults]
)
def test_a_fault_is_refused_by_the_part_that_it_is_in(model_type, fault):
    plant, part = FAULTS[model_type][fault]
    reading = reading_of(model_type)
    with pytest.raises(UnfitModel) as refusal:
        proved(reading, planted(reading, plant))
    assert f"Layer 2 of the model is not read right: {SAYS[part]}" in str(refusal.value)


@pytest.mark.parametrize("model_type", FAULTS)
def test_without_a_fault_the_same_is_proved(model_type):
    assert proved(reading_of(model_type), reading_of(model_type).layers) < 1e-6


@pytest.mark.parametrize("fault", UNSEEN)
def test_a_fault_that_changes_no_weight_is_not_seen(fault):
    reading = reading_of("bert")
    assert proved(reading, planted(reading, UNSEEN[fault])) < 1e-6
