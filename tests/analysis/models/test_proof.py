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


def _twice(part: Any) -> Any:
    return part * 2


def _without(_part: Any) -> None:
    return None


def _of_gate(change: Callable[[torch.Tensor], torch.Tensor]) -> Fault:
    return _with(gate=lambda gate: replace(gate, weight=change(gate.weight)))


def _gate_of_input(layer: Any) -> LayerWeights:
    return _of_gate(lambda weight: weight / layer.norms[0].scale[:, None])(layer)


def _gates_for_inputs(layer: Any) -> LayerWeights:
    network = layer.feed_forward
    swapped = {"gate_weight": network.input_weight, "input_weight": network.gate_weight}
    return replace(layer, feed_forward=replace(network, **swapped))


zero = torch.zeros_like
_LATENT: list[Callable[[Any], Any]] = [
    lambda latent: replace(latent, norm=NoNorm(zero(latent.norm.scale))),
    lambda latent: replace(latent, weight=_next_channel(latent.weight)),
]
FAULTS: dict[str, dict[str, list[Fault]]] = {
    "bert": {
        "weights": [
            _with(query_weight=_next_head),
            _with(score_scale=_twice),
            _with(query_bias=zero),
            _with(score_cap=lambda _: 1.0),
        ],
        "values": [
            _with(value_weight=_next_head, value_bias=_next_head, output_weight=_next_head),
            _with(value_bias=zero),
        ],
        "attention": [_with(output_weight=_next_head), _with(output_bias=zero)],
        "network": [
            _norm(-1, scale=_next_head),
            _norm(-1, shift=zero),
            _of_network(input_bias=zero),
            _of_network(output_bias=zero),
            _of_network(activation=lambda _: "gelu_tanh"),
            _with(norms=lambda norms: norms[::-1]),
        ],
    },
    "mistral": {
        "norm": [_norm(0, scale=_next_head), _norm(0, epsilon=lambda _: 0.1)],
        "weights": [
            _with(rotary=lambda of: replace(of, frequencies=of.frequencies.roll(1))),
            _with(rotary=_without),
            _with(key_weight=_next_group, key_bias=_next_group),
            _with(window=lambda window: window + 1),
            _with(window=lambda window: window - 1),
            _with(window=_without),
            _with(is_causal=lambda _: False),
        ],
        "values": [_with(value_weight=_next_group)],
        "network": [_gates_for_inputs, _of_network(gate_weight=_without, gate_bias=_without)],
    },
    "deepseek_v3": {
        "weights": [
            *(_with(query_latent=change) for change in _LATENT),
            *(_with(key_latent=change) for change in _LATENT),
            _with(direct_key_weight=_next_channel),
        ],
        "values": [_with(value_latent=change) for change in _LATENT],
    },
    "afmoe": {
        "attention": [
            _with(gate=_without),
            _of_gate(_next_head),
            _of_gate(lambda weight: weight / 2),
            _gate_of_input,
        ]
    },
    "gpt_oss": {
        "weights": [_with(sink_logit=_without), _with(sink_logit=_next_head)],
        "network": [
            _of_network(expert_bias=_without),
            _of_network(input_bias=lambda bias: bias - 1),
            _of_network(router=_without),
        ],
    },
    "deberta": {"weights": [_with(offset_terms=_without)]},
}
"""Faults by type of model and by the part that they are in: in a post-norm encoder, in a gated
decoder with groups and rotation, and in what others have beside."""


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


def planted(layers: tuple[LayerWeights, ...], fault: Fault) -> Any:
    """Plant a fault into the second layer."""
    return (layers[0], fault(layers[1]), *layers[2:])


@pytest.mark.parametrize(
    ("model_type", "part"), [(name, part) for name, parts in FAULTS.items() for part in parts]
)
def test_a_fault_is_refused_by_the_part_that_it_is_in(model_type, part):
    reading = reading_of(model_type)
    for plant in FAULTS[model_type][part]:
        said = refused(UnfitModel, proved, reading, planted(reading.layers, plant))
        assert said.startswith(f"Layer 2 of the model is not read right: {SAYS[part]} by "), said
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
    ("family", "plant"), [("bert", _with(value_bias=zero)), ("mistral", _with(window=_without))]
)
def test_a_loaded_model_is_refused_if_it_is_misread(family, plant):
    model = tiny_model(family)
    misread = replace(model, layers=planted(model.layers, plant))
    assert refused(UnfitModel, misread.proved).startswith("Layer 2 of the model is not read right:")
