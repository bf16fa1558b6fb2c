"""The proof of a reading: it refuses faults planted into the weights, and names part and layer."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from transformers.models.llama import modeling_llama

from analysis.errors import UnfitModel
from analysis.models.norm import NoNorm
from analysis.models.proof import PARTS, prove
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from analysis.models.stream import eager_pass
from analysis.models.trace import LayerWeights, in_dtype
from tests.analysis.models.every_type import tiny_type
from tests.refusals import refused
from tests.tiny import tiny_model

SAYS = {
    "norm": "the norm before attention differs from the model's",
    "values": "values differ from the model's",
    "weights": "attention weights, made of queries and keys, differ from the model's",
    "attention": "vectors times weights do not add up to the output of attention",
    "network": "attention, residual, norms and network do not add up to the output of the layer",
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


def _norm(place: int, **changes: Callable[[Any], Any]) -> Fault:
    def changed(norms: tuple[Any, ...]) -> tuple[Any, ...]:
        other, norm = list(norms), norms[place]
        new = {name: change(getattr(norm, name)) for name, change in changes.items()}
        other[place] = replace(norm, **new)
        return tuple(other)

    return _with(norms=changed)


def _next_head(heads: torch.Tensor) -> torch.Tensor:
    return heads.roll(1, dims=0)


def _next_group(heads: torch.Tensor) -> torch.Tensor:
    return heads.roll(2, dims=0)  # tiny models have two heads for every key


def _next_channel(weight: torch.Tensor) -> torch.Tensor:
    return weight.roll(1, dims=-1)


def _gate_of_input(layer: Any) -> LayerWeights:
    weight = layer.gate.weight / layer.norms[0].scale[:, None]
    return replace(layer, gate=replace(layer.gate, weight=weight))


def _twice(part: Any) -> Any:
    return part * 2


def _next_plane(rotary: Any) -> Any:
    return replace(rotary, frequencies=rotary.frequencies.roll(1))


def _without_last(weight: Any) -> Any:
    return torch.cat([weight[:-1], torch.zeros_like(weight[-1:])])


def _without_bias(router: Any) -> Any:
    return router and replace(router, given={name: zero(of) for name, of in router.given.items()})


zero = torch.zeros_like
_HEADS: dict[str, tuple[Fault, str]] = {
    "queries in another order of heads": (_with(query_weight=_next_head), "weights"),
    "heads in another order": (
        _with(value_weight=_next_head, value_bias=_next_head, output_weight=_next_head),
        "values",
    ),
    "outputs in another order of heads": (_with(output_weight=_next_head), "attention"),
    "another scale of scores": (_with(score_scale=_twice), "weights"),
    "the network's norm of another channel": (_norm(-1, scale=_next_head), "network"),
    "a cap on scores": (_with(score_cap=lambda cap: 1.0), "weights"),
}
_BIASES: dict[str, tuple[Fault, str]] = {
    "no bias of queries": (_with(query_bias=zero), "weights"),
    "no bias of values": (_with(value_bias=zero), "values"),
    "no bias of the output": (_with(output_bias=zero), "attention"),
    "no bias of the hidden layer": (_of_network(input_bias=zero), "network"),
    "no bias of the network": (_of_network(output_bias=zero), "network"),
    "no shift of a norm": (_norm(-1, shift=zero), "network"),
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
    f"{fault} of {side}": (_with(**{f"{side}_latent": change}), part)
    for side, part in (("query", "weights"), ("key", "weights"), ("value", "values"))
    for fault, change in {
        "no latent norm": lambda latent: replace(latent, norm=NoNorm(zero(latent.norm.scale))),
        "a latent norm of another channel": lambda latent: replace(
            latent, norm=replace(latent.norm, scale=latent.norm.scale.roll(1))
        ),
        "another latent": lambda latent: replace(latent, weight=_next_channel(latent.weight)),
    }.items()
}
_OF_GATES: dict[str, tuple[Fault, str]] = {
    "no gate after attention": (_with(gate=lambda _: None), "attention"),
    "the gate of another head": (
        _with(gate=lambda gate: replace(gate, weight=_next_head(gate.weight))), "attention",
    ),
    "half of the gate": (
        _with(gate=lambda gate: replace(gate, weight=gate.weight / 2)), "attention",
    ),
    "the gate of the layer's input": (_gate_of_input, "attention"),
}  # fmt: skip
_FIRST_NORM: dict[str, tuple[Fault, str]] = {
    "the first norm of another channel": (_norm(0, scale=_next_head), "norm"),
    "another size of a norm": (_norm(0, epsilon=lambda _: 0.1), "norm"),
}
_WINDOW: dict[str, tuple[Fault, str]] = {
    "a window one wider": (_with(window=lambda window: window + 1), "weights"),
    "a window one narrower": (_with(window=lambda window: window - 1), "weights"),
    "no window": (_with(window=lambda _: None), "weights"),
    "later keys": (_with(is_causal=lambda _: False), "weights"),
}
_SINKS: dict[str, tuple[Fault, str]] = {
    "no sink logit": (_with(sink_logit=lambda _: None), "weights"),
    "sink logits of other heads": (_with(sink_logit=_next_head), "weights"),
}


def _activation(name: str) -> dict[str, tuple[Fault, str]]:
    return {f"the activation {name}": (_of_network(activation=lambda _: name), "network")}


FAULTS: dict[str, dict[str, tuple[Fault, str]]] = {
    "bert": _HEADS
    | _BIASES
    | _activation("gelu_tanh")
    | {"swapped norms": (_with(norms=lambda norms: norms[::-1]), "network")},
    "mistral": _HEADS | _FIRST_NORM | _ROTATED | _GROUPED | _GATED | _WINDOW | _activation("gelu"),
    "qwen3": {"no norm of queries": (_with(query_norm=lambda _: None), "weights")},
    "granite": {
        "no multiplier of attention": (_with(output_weight=_twice), "attention"),
        "no multiplier of the network": (_of_network(output_weight=_twice), "network"),
        "no multiplier of scores": (_with(score_scale=lambda _: 8**-0.5), "weights"),
    },
    "deepseek_v3": _ROTATED
    | _OF_LATENTS
    | {"rotated keys of another channel": (_with(direct_key_weight=_next_channel), "weights")},
    "afmoe": _OF_GATES,
    "phi": _ROTATED
    | {name: fault for name, fault in _BIASES.items() if "norm" not in name}
    | {"no bias of keys": (_with(key_bias=zero), "weights")},
    "gemma2": {
        "no cap on scores": (_with(score_cap=lambda _: None), "weights"),
        "a norm behind attention of another channel": (_norm(1, scale=_next_head), "network"),
    },
    "gpt_oss": _SINKS
    | _activation("silu")
    | {
        "no bias of experts": (_of_network(expert_bias=lambda _: None), "network"),
        "a bias of the inputs without its 1": (_of_network(input_bias=lambda b: b - 1), "network"),
        "no router": (_of_network(router=lambda _: None), "network"),
    },
    "granite_swa": _SINKS,
    "vit": _HEADS | _FIRST_NORM | _BIASES,
    "dinov2": {"a scale of the layer twice": (_with(output_weight=_twice), "attention")},
    "gpt_neox_japanese": {
        "no own bias of the last layer": (_with(output_bias=zero), "attention"),
    },
    "granitemoeshared": {
        "no network beside experts": (_of_network(output_weight=_without_last), "network"),
    },
    "hy_v3": {"no bias of experts": (_of_network(router=_without_bias), "network")},
    "deberta": {"no terms of distance": (_with(offset_terms=lambda _: None), "weights")},
    "t5": _FIRST_NORM | {"no terms of distance": (_with(offset_terms=lambda _: None), "weights")},
}
"""Faults by type of model: a post-norm encoder, a gated decoder with groups and rotation, and what
others have beside: multipliers, latents, gates after attention, norms around blocks, sink logits,
experts that clamp, terms of distance."""


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


def planted(layers: tuple[LayerWeights, ...], fault: Fault, number: int = 2) -> Any:
    """Plant a fault into a layer, counted from 1."""
    return (*layers[: number - 1], fault(layers[number - 1]), *layers[number:])


@pytest.mark.parametrize(
    ("model_type", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults]
)
def test_a_fault_is_refused_by_the_part_that_it_is_in(model_type, fault):
    plant, part = FAULTS[model_type][fault]
    reading, number = reading_of(model_type), 3 if "of the last layer" in fault else 2
    said = refused(UnfitModel, proved, reading, planted(reading.layers, plant, number))
    assert said.startswith(f"Layer {number} of the model is not read right: {SAYS[part]} by "), said
    assert said.endswith(" of its size.")


def test_sink_logits_are_the_library_s_also_where_its_weights_do_not_show_them(monkeypatch):
    reading = reading_of("granite_swa")
    with in_float64(reading.model):
        inputs = reading.inputs(random_inputs(reading.model))
        given = reading.model, reading.parts, reading.layers, inputs
        eager = eager_pass(reading.model, inputs)
        assert eager is not None
        prove(*given, eager=eager)
        without = "transformers.models.granite_swa.modeling_granite_swa.eager_attention_forward"
        monkeypatch.setattr(without, modeling_llama.eager_attention_forward)
        other = eager_pass(reading.model, inputs)
        assert other is not None
        with pytest.raises(UnfitModel, match="sink logits enter attention in a way that is not"):
            prove(*given, eager=replace(eager, output=other.output))
        with pytest.raises(UnfitModel, match="Attention weights of layer 2 differ"):
            prove(*given, eager=other)


@pytest.mark.parametrize(
    ("family", "plant"), [("bert", _with(value_bias=zero)), ("mistral", _WINDOW["no window"][0])]
)
def test_a_loaded_model_is_refused_if_it_is_misread(family, plant):
    model = tiny_model(family)
    misread = replace(model, layers=planted(model.layers, plant))
    assert refused(UnfitModel, misread.proved).startswith("Layer 2 of the model is not read right:")
