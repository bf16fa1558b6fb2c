"""Massive activations in tiny models, and ways to misread a layer's weights."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from analysis.models.reading import Reading, read_model
from analysis.models.trace import LayerWeights, Model, in_dtype
from precompute.models import load_models
from precompute.models.loaded_model import LoadedModel
from tests.tiny import TINY_VISION, tiny_model, tiny_sequences

SIZE, COORDINATE = 3000.0, 5
PLACES = ("first", "every")


def massive_model(family: str, place: str, *, dtype: torch.dtype = torch.float32) -> LoadedModel:
    """A family's tiny model with one coordinate of its stream at 3000.

    In most models it stays through all layers, of the first patch or of one of its first tokens
    alone, or of every one. A post-norm layer normalises it away: there it is massive before the
    first layer, or, by the shifts of the last normalisations, before and after every layer.
    """
    loaded = tiny_model(family, dtype=torch.float64)
    model = loaded.model
    with torch.no_grad():
        if family in ("bert", "roberta"):
            embedded = model.embeddings.LayerNorm
            if place == "first":
                embedded.weight[COORDINATE] *= SIZE
            else:
                for norm in (embedded, *(layer.output.LayerNorm for layer in model.encoder.layer)):
                    norm.bias[COORDINATE] += SIZE
        else:
            table, row = _added(model, family, place)
            rows = slice(row, row + 1) if place == "first" else slice(None)
            table[rows, COORDINATE] += SIZE
    model.to(dtype)
    reading = read_model(model)
    layers = reading.layers
    if dtype is torch.bfloat16:
        layers = tuple(in_dtype(layer, torch.float32) for layer in layers)
    named = str(dtype).removeprefix("torch.")
    return replace(loaded, reading=reading, layers=layers, dtype=named)


def _added(model: Model, family: str, place: str) -> tuple[Tensor, int]:
    """Weights added to tokens or in their place, and the row of one that most texts begin with."""
    if family == "dinov3_vit":  # which adds no positions, but to every patch its bias
        embeddings = model.embeddings
        added = embeddings.cls_token if place == "first" else embeddings.patch_embeddings.bias
        return added.view(1, -1), 0
    if family in TINY_VISION:
        positions = model.embeddings.position_embeddings
        return positions.reshape(-1, positions.shape[-1]), 1  # shares the memory
    if family == "gpt2":
        return model.wpe.weight, 1
    return model.get_input_embeddings().weight, int(tiny_sequences(family)[0].ids[1])


def _feed_forward(layer: LayerWeights, **changed) -> LayerWeights:
    return replace(layer, feed_forward=replace(layer.feed_forward, **changed))


def _wrong_activation(layer: LayerWeights) -> LayerWeights:
    wrong = "silu" if layer.feed_forward.activation == "relu" else "relu"
    return _feed_forward(layer, activation=wrong)


def _swapped_norms(layer: LayerWeights) -> LayerWeights:
    return replace(layer, norms=layer.norms[::-1])


def _without(name: str) -> Callable[[LayerWeights], LayerWeights]:
    def misread(layer: LayerWeights) -> LayerWeights:
        owner = layer.feed_forward if name in ("input_bias", "second_bias") else layer
        part = "output_bias" if name == "second_bias" else name
        changed = {part: torch.zeros_like(getattr(owner, part))}
        return replace(layer, **changed) if owner is layer else _feed_forward(layer, **changed)

    return misread


FAULTS: dict[str, Callable[[LayerWeights], LayerWeights]] = {
    "wrong activation": _wrong_activation,
    "swapped norms": _swapped_norms,
    "no bias of attention": _without("output_bias"),
    "no first bias of the network": _without("input_bias"),
    "no second bias of the network": _without("second_bias"),
}


def misread_unproved(
    patch: pytest.MonkeyPatch, change: Callable[[LayerWeights], LayerWeights]
) -> None:
    """Have every model loaded with its last layer changed, and without a proof."""
    honest = load_models.read_model

    def misread(model: Model) -> Reading:
        reading = honest(model)
        *others, last = reading.layers
        return replace(reading, layers=(*others, change(last)))

    patch.setattr(load_models, "read_model", misread)
    patch.setattr(LoadedModel, "proved", lambda _model: None)
