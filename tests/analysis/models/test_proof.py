"""The proof of a reading refuses every fault that is planted, and names the part and the layer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.models.proof import PARTS
from analysis.models.trace import LayerWeights
from tests.massive import FAULTS
from tests.tiny import every_model, tiny_model

Fault = Callable[[LayerWeights], LayerWeights]


def _changed(name: str, change: Callable[[Any], Any]) -> Fault:
    return lambda layer: replace(layer, **{name: change(getattr(layer, name))})


def _first_norm(**changed: Any) -> Fault:
    return _changed("norms", lambda norms: (replace(norms[0], **changed), *norms[1:]))


def _heads_in_another_order(layer: LayerWeights) -> LayerWeights:
    names = ("query_weight", "query_bias", "key_weight", "key_bias")
    return replace(layer, **{name: getattr(layer, name).flip(0) for name in names})


NORM, VALUES = (
    "the norm before attention differs from the model's",
    "values differ from the model's",
)
WEIGHTS = "attention weights, made of queries and keys, differ from the model's"
ATTENTION = "vectors times weights do not add up to the output of attention"
NETWORK = "attention, residual, norms and network do not add up to the output of the layer"
PLANTED: dict[str, tuple[str, Fault, str]] = {
    "another size of a norm": ("llama", _first_norm(epsilon=0.1), NORM),
    "no shift of a norm": ("gpt2", _first_norm(shift=torch.zeros(12)), NORM),
    "no bias of values": ("bert", _changed("value_bias", torch.zeros_like), VALUES),
    "values of another group": ("llama", _changed("value_weight", lambda w: w.flip(0)), VALUES),
    "heads in another order": ("bert", _heads_in_another_order, WEIGHTS),
    "no bias of queries": ("bert", _changed("query_bias", torch.zeros_like), WEIGHTS),
    "keys of another group": ("llama", _changed("key_weight", lambda w: w.flip(0)), WEIGHTS),
    "another scale": ("gpt2", _changed("score_scale", lambda scale: 1.01 * scale), WEIGHTS),
    "no cap": ("gemma2", _changed("score_cap", lambda _: None), WEIGHTS),
    "no rotation": ("llama", _changed("rotary", lambda _: None), WEIGHTS),
    "no norm of queries": ("qwen3", _changed("query_norm", lambda _: None), WEIGHTS),
    "later keys": ("gpt2", _changed("is_causal", lambda _: False), WEIGHTS),
    "no window": ("mistral", _changed("window", lambda _: None), WEIGHTS),
    "no distances": ("t5", _changed("offset_terms", lambda _: None), WEIGHTS),
    "no bias of attention": ("bert", FAULTS["no bias of attention"], ATTENTION),
    "a scale of the layer twice": ("dinov2", _changed("output_weight", lambda w: 2 * w), ATTENTION),
    "swapped norms": ("bert", FAULTS["swapped norms"], NETWORK),
    "wrong activation": ("gpt2", FAULTS["wrong activation"], NETWORK),
    "wrong gate": ("llama", FAULTS["wrong activation"], NETWORK),
    "no first bias": ("bert", FAULTS["no first bias of the network"], NETWORK),
    "no second bias": ("bert", FAULTS["no second bias of the network"], NETWORK),
}
"""Family, fault of its second layer, and what the proof says of it."""


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_is_refused_with_its_part_and_its_layer(fault):
    family, change, said = PLANTED[fault]
    model = tiny_model(family)
    first, second, *rest = model.layers
    misread = replace(model, layers=(first, change(second), *rest))
    with pytest.raises(UnfitModel) as error:
        misread.proved()
    message = str(error.value)
    assert message.startswith(f"Layer 2 of the model is not read right: {said} by "), message
    assert message.endswith(" of its size.")


@every_model
def test_the_right_reading_of_every_family_is_proved_to_round_off(family):
    proof = tiny_model(family).proved()
    assert max(map(proof.worst, PARTS)) < 1e-6
