"""Reading of a model: its layers, the modules that they run in, and its places of tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel, UserError
from analysis.models.attention import LayerParts
from analysis.models.distances import terms_of_distance
from analysis.models.families import deberta
from analysis.models.finding.find import find_layers, in_float64
from analysis.models.finding.probe import Probe, trial
from analysis.models.finding.windows import windows_of
from analysis.models.images import (
    ImagePlaces,
    TurnedPatches,
    check_layout,
    layout_of,
    n_channels_of,
    patch_embeddings,
    reads_images,
)
from analysis.models.layout import TokenLayout, two_sizes
from analysis.models.places import Places, places_of
from analysis.models.rotary import PatchRotary, Rotary
from analysis.models.trace import LayerWeights, Model, in_dtype

_SAMPLES = 6
"""Number of random texts, or of images of noise, that parts are told apart by."""
_TURNS = ("default", "linear", "llama3", "yarn", "proportional")
"""Kinds of rotary positions with frequencies that do not depend on the length of a text."""


@dataclass(frozen=True)
class Reading:
    """Reading of one model.

    `layout` names the tokens of an image; None for a model that reads text. `without_attention` has
    the class names of what stands in place of attention in all other layers, by layer number,
    counted from 1.
    """

    model: Model
    layers: tuple[LayerWeights, ...]
    parts: tuple[LayerParts, ...]
    places: Places
    layout: TokenLayout | None = None
    without_attention: Mapping[int, str] = field(default_factory=dict)

    def inputs(self, given: Mapping[str, Tensor]) -> dict[str, Any]:
        """Return those of the inputs of a batch that the model takes."""
        return inputs_of(self.model, given)

    def word_embeddings(self, given: Mapping[str, Tensor]) -> Tensor:
        """Rows of the embedding table, before positions or other vectors are added.

        Those of an image are the embeddings of its patches, and special tokens before them.
        """
        if self.layout is not None:
            return patch_embeddings(self.model, self.places, given["pixel_values"])
        return self.model.get_input_embeddings().weight.detach()[given["input_ids"]]


def inputs_of(model: Model, given: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return those of the inputs of a batch that a model takes, without a cache.

    Segments are for models with types of segments: others would read them as words.
    """
    taken = signature(model.forward).parameters
    has_types = getattr(model.config, "type_vocab_size", 0) > 0
    inputs: dict[str, Any] = {
        name: tensor
        for name, tensor in given.items()
        if name in taken and (has_types or name != "token_type_ids")
    }
    return inputs | ({"use_cache": False} if "use_cache" in taken else {})


def read_model(model: Model) -> Reading:
    """Find how a model is read, by one forward pass on random inputs in float64.

    Raises:
        UnfitModel: naming the part that was not found.
    """
    try:
        with trial(model):
            return _read(model)
    except UserError:
        raise
    except Exception as error:  # a strange architecture may break the search anywhere
        raise UnfitModel(
            f"{type(model).__name__} cannot be read: its layers are built in no way that can be "
            "followed, so that nothing would prove its numbers."
        ) from error


def _read(model: Model) -> Reading:
    _check_settings(model)
    if model.config.model_type in deberta.FAMILIES:
        return Reading(
            model, deberta.weights(model), deberta.parts(model), deberta.DistancePlaces(model)
        )
    return _read_images(model) if reads_images(model) else _read_texts(model)


def _read_texts(model: Model) -> Reading:
    with in_float64(model):
        inputs = inputs_of(model, random_inputs(model))
        found = find_layers(model, inputs, [*rotations_of(model)])
        is_turned = any(layer.rotary is not None for layer in found.layers)
        places = places_of(model, found.seen, found.first, is_turned=is_turned)
    layers = [layer.weights() for layer in found.layers]
    windows = windows_of(model, layers, places.longest, partial(_one_text, model))
    for index, (layer, window) in enumerate(zip(found.layers, windows, strict=True)):
        terms = in_dtype(terms_of_distance(model, layer, places.longest), model.dtype)
        layers[index] = replace(layers[index], offset_terms=terms, window=window)
    parts = tuple(layer.parts for layer in found.layers)
    others = found.without_attention
    return Reading(model, tuple(layers), parts, places, without_attention=others)


def _read_images(model: Model) -> Reading:
    layout, is_turned = layout_of(model), hasattr(model, "rope_embeddings")
    turned = TurnedPatches(model, layout)
    with in_float64(model):
        inputs = inputs_of(model, random_inputs(model))
        rotations = [PatchRotary(turned.angles)] if is_turned else []
        found = find_layers(model, inputs, rotations)
    check_layout(layout, found.seen)
    layers = tuple(layer.weights() for layer in found.layers)
    parts = tuple(layer.parts for layer in found.layers)
    others = found.without_attention
    if is_turned:
        rotary = PatchRotary(turned.angles)
        layers = tuple(replace(layer, rotary=rotary) for layer in layers)
        return Reading(model, layers, parts, turned, layout, others)
    places = ImagePlaces(model, layout, _returns_tensor(found.seen, model.embeddings))
    return Reading(model, layers, parts, places, layout, others)


def _returns_tensor(seen: Probe, module: Model) -> bool:
    return any(call.module is module and call.returns == "tensor" for call in seen.calls)


def _one_text(model: Model, n_tokens: int) -> dict[str, Any]:
    return inputs_of(model, random_inputs(model, n_texts=1, n_tokens=n_tokens))


def random_inputs(
    model: Model, n_texts: int = _SAMPLES, n_tokens: int | None = None
) -> dict[str, Tensor]:
    """Return texts of random tokens, or images of noise.

    Args:
        n_tokens: length of the texts; if None, a few, as many as no other size of the model.
    """
    draw, config = torch.Generator().manual_seed(0), model.config
    if reads_images(model):
        shape = n_texts, n_channels_of(model), *two_sizes(config.image_size)
        noise = torch.rand(shape, generator=draw, dtype=torch.float64)
        return {"pixel_values": noise.to(model.device)}
    heads = {getattr(config, name, None) for name in ("num_attention_heads", "n_head", "num_heads")}
    n_tokens = n_tokens or next(n for n in (11, 13, 7) if n not in heads)
    ids = torch.randint(config.vocab_size, (n_texts, n_tokens), generator=draw)
    padding = getattr(config, "pad_token_id", None)
    ids[ids == padding] = (padding or 0) + 1 if (padding or 0) + 1 < config.vocab_size else 0
    given = {
        "input_ids": ids,
        "token_type_ids": torch.zeros_like(ids),
        "attention_mask": torch.ones_like(ids),
    }
    return {name: tensor.to(model.device) for name, tensor in given.items()}


def rotations_of(model: Model) -> Iterator[Rotary]:
    """Every rotation by frequencies that a model holds."""
    for module in model.modules():
        for name, frequencies in module.named_buffers(recurse=False):
            if "inv_freq" in name and "original" not in name:
                scaling = name.replace("inv_freq", "attention_scaling")
                for turned in (frequencies, -frequencies):
                    yield Rotary(turned, getattr(module, scaling, 1.0))
        table = getattr(module, "embed_positions", None)
        rows = getattr(table, "weight", table)
        if isinstance(rows, Tensor) and rows.dim() == 2 and len(rows) > 1:
            sine, cosine = rows[1].chunk(2)
            yield Rotary(torch.atan2(sine, cosine))


def _check_settings(model: Model) -> None:
    """Raise UnfitModel if a setting acts on some texts alone, and maybe on none of the trial.

    Raises:
        UnfitModel: naming the setting and what is covered.
    """
    for settings in (model.config, getattr(model.config, "attn_config", None)):
        if (limit := getattr(settings, "clip_qkv", None)) is not None:
            raise UnfitModel(
                f"The model's clip_qkv is {limit}: queries, keys and values beyond it are cut off, "
                "so that they are no longer made by a matrix. Covered is null."
            )
    given = getattr(model.config, "rope_parameters", None) or {}
    kinds = [given] if "rope_type" in given else [r for r in given.values() if isinstance(r, dict)]
    for kind in (rope.get("rope_type", "default") for rope in kinds):
        if kind not in _TURNS:
            raise UnfitModel(
                f"The model's rope_type is {kind!r}; covered are {', '.join(_TURNS)}, whose "
                "frequencies are the same for texts of any length."
            )
