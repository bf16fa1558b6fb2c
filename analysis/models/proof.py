"""Proof that a model is read right: the parts of every layer add up to what the model computes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.measures.mixing.activation_gate import active
from analysis.models.attention import LayerParts
from analysis.models.norm import normed
from analysis.models.places import Places
from analysis.models.rotary import Rotary
from analysis.models.stream import OnLayer, stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model, in_dtype

PARTS = ("norm", "values", "weights", "sum", "attention", "network")
"""Parts of a layer, in the order of their proof: the norm that attention reads through, values,
attention weights from queries and keys, their sum, the sum of vectors, network and residual."""
_ALLOWED = {"weights": 2e-5}
_ALLOWED_ELSE = 1e-5
"""Largest error of a part relative to its size: the library takes some norms, angles and the
softmax in float32 whatever the number format."""
_SOME_TOKEN = 5


@dataclass(frozen=True)
class Proof:
    """Largest error of each part of each layer, relative to the part's largest coordinate."""

    errors: tuple[Mapping[str, float], ...]

    def worst(self, part: str) -> float:
        return max(layer[part] for layer in self.errors)


def worst_of(proofs: Sequence[Proof]) -> Proof:
    """Return the largest error of each part of each layer over several proofs."""
    layers = zip(*(proof.errors for proof in proofs), strict=True)
    return Proof(
        tuple({part: max(e[part] for e in of_layer) for part in PARTS} for of_layer in layers)
    )


def prove(
    model: Model,
    parts: tuple[LayerParts, ...],
    layers: tuple[LayerWeights, ...],
    inputs: Mapping[str, Any],
    *,
    eager: Sequence[Tensor] = (),
    receive: OnLayer | None = None,
) -> Proof:
    """Run a model once and add up the parts of every layer, in float64 if its inputs are.

    Args:
        inputs: a padded batch of texts, or images.
        eager: attention weights of the library for these inputs, to compare with.
        receive: is handed every layer too.

    Raises:
        UnfitModel: naming the first part that does not add up, the layer and by how much.
    """
    is_token = inputs.get("attention_mask")
    errors: list[dict[str, float]] = []

    def add_up(index: int, layer: LayerTrace) -> None:
        if receive is not None:
            receive(index, layer)
        real = torch.ones_like(layer.input[..., 0], dtype=torch.bool)
        if is_token is not None:
            real = is_token.bool()
        if eager:
            theirs = eager[index].transpose(1, 2)[real]
            _check_eager(index, layer.attention.transpose(1, 2)[real], theirs)
        exact = replace(layer, weights=in_dtype(layer.weights, layer.input.dtype))
        found = {part: _error(*sides) for part, *sides in _parts(exact, real)}
        for part, error in found.items():
            if not error <= _ALLOWED.get(part, _ALLOWED_ELSE):
                raise UnfitModel(
                    f"Layer {index + 1} of the model is not read right: {_SAID[part]} by "
                    f"{error:.1e} of its size."
                )
        errors.append(found)

    if eager and len(eager) != len(layers):
        raise UnfitModel(
            f"Of the {len(eager)} layers of the model {len(layers)} compute attention by the "
            "library's interface; all have to."
        )
    stream_layers(model, parts, layers, inputs, add_up)
    return Proof(tuple(errors))


def _check_eager(index: int, ours: Tensor, theirs: Tensor) -> None:
    difference = float((ours - theirs).abs().max())
    if not difference <= _ALLOWED["weights"]:
        raise UnfitModel(
            f"Attention weights of layer {index + 1} differ from those of the library's eager "
            f"attention by {difference:.1e}: its scores have a term that is not covered."
        )


def prove_places(
    model: Model,
    parts: tuple[LayerParts, ...],
    layers: tuple[LayerWeights, ...],
    places: Places,
    inputs: Mapping[str, Any],
) -> None:
    """Prove that a model knows the places of tokens by nothing else than what is changed.

    With all places removed, equal tokens must enter the first layer alike, and weights follow from
    queries and keys that are not rotated and stand at one place.

    Args:
        inputs: texts without padding.

    Raises:
        UnfitModel: if they do not.
    """
    ids = inputs["input_ids"].clone()
    ids[-1] = _SOME_TOKEN
    blind = tuple(_at_one_place(layer) for layer in layers)
    with places.changed(torch.zeros_like):
        prove(model, parts, blind, dict(inputs) | {"input_ids": ids}, receive=_check_alike)


def _check_alike(index: int, layer: LayerTrace) -> None:
    """Raise UnfitModel if the equal tokens of the last text enter the first layer unlike."""
    error = _error(layer.input[-1], layer.input[-1, :1].expand_as(layer.input[-1]))
    if index == 0 and not error <= _ALLOWED_ELSE:
        raise UnfitModel(
            "Places of tokens are not read right: with all of them removed, equal tokens still "
            f"enter the first layer as vectors that differ by {error:.1e} of their size."
        )


def _at_one_place(layer: LayerWeights) -> LayerWeights:
    rotary, terms = layer.rotary, layer.offset_terms
    if isinstance(rotary, Rotary):
        rotary = replace(rotary, frequencies=torch.zeros_like(rotary.frequencies))
    if terms is not None:
        here = terms.bucket_of(torch.zeros_like(terms.buckets))
        terms = replace(terms, buckets=here)
    return replace(layer, rotary=rotary, offset_terms=terms)


_SAID = {
    "norm": "the norm before attention differs from the model's",
    "values": "values differ from the model's",
    "weights": "attention weights, made of queries and keys, differ from the model's",
    "sum": "attention weights of a token do not sum to 1",
    "attention": "vectors times weights do not add up to the output of attention",
    "network": "attention, residual, norms and network do not add up to the output of the layer",
}


def _error(made: Tensor, wanted: Tensor) -> float:
    """Return the largest difference relative to the largest coordinate."""
    size = wanted.abs().max().clamp_min(1e-30)
    return float((made - wanted).abs().max() / size)


def _parts(
    layer: LayerTrace, real: Bool[Tensor, "batch token"]
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Each part as it is made of the weights that were read, and as the model made it."""
    weights = layer.weights
    read = layer.input
    for norm in weights.norms_by_stage[0]:
        read = normed(norm, read)
    yield "norm", read[real], layer.attention_input[real]
    values = weights.values(layer.attention_input)
    by_token = layer.values.transpose(1, 2)
    yield "values", values.transpose(1, 2)[real], by_token[real]
    seen = weights.pairs(real.shape[1]).to(real.device) & real[:, None, None]
    scores = weights.scores(layer.attention_input).masked_fill(~seen, -torch.inf)
    by_query, made = layer.attention.transpose(1, 2), scores.softmax(-1).transpose(1, 2)
    yield "weights", made[real], by_query[real]
    total = by_query[real].sum(dim=-1)
    yield "sum", total, torch.ones_like(total)
    attention = (layer.mixed @ weights.output_weight).sum(dim=1) + weights.output_bias
    yield "attention", attention[real], layer.attention_output[real]
    yield "network", layer_output(layer)[real], layer.output[real]


def layer_output(layer: LayerTrace) -> Float[Tensor, "batch token width"]:
    """Output of a layer by the steps of its order, from its input and the output of attention."""
    weights, order = layer.weights, layer.weights.order
    norms = iter(weights.norms[order.read.count("ln") :])
    stream, block = layer.input, layer.attention_output
    for step in order.after_attention:
        block = block + stream if step == "res" else normed(next(norms), block)
    read = layer.input if order.is_parallel else block
    for _ in order.to_network:
        read = normed(next(norms), read)
    base, made = block, network_output(weights, read)
    if order.is_parallel:
        base = layer.input + block
    for step in order.after_network:
        made = made + base if step == "res" else normed(next(norms), made)
    return made


def network_output(
    weights: LayerWeights, read: Float[Tensor, "*any width"]
) -> Float[Tensor, "*any width"]:
    """Output of the feed-forward network."""
    network = weights.feed_forward
    made = [read @ weight + bias for weight, bias in network.paths]
    hidden = active(made[0], network.activation)
    if len(made) > 1:
        hidden = hidden * made[1]
    return network.routed(hidden, read) @ network.output_weight + network.output_bias
