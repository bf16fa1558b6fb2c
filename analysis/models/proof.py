"""Proof that a model is read right: the parts of every layer add up to what the model computes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.measures.mixing.linear_layer import network_output
from analysis.models.attention import LayerParts
from analysis.models.norm import normed
from analysis.models.places import Places
from analysis.models.rotary import Rotary
from analysis.models.stream import EagerPass, OnLayer, stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model, in_dtype

PARTS = ("norm", "values", "weights", "sum", "attention", "network")
"""Parts of a layer, in the order of their proof: the norm that attention reads through, values,
attention weights from queries and keys, their sum, the sum of vectors, network and residual."""
_ALLOWED = {"weights": 2e-5}
_ALLOWED_ELSE = 1e-5
"""Largest error of a part relative to its size: the library takes some norms, angles and the
softmax in float32 whatever the number format."""
_SOME_TOKEN = 5
_COMPARED = ("query_weight", "query_bias", "key_weight", "key_bias", "query_norm", "key_norm")
_COMPARED += ("query_latent", "key_latent", "direct_key_weight")
_COMPARED += ("rotary", "offset_terms", "sink_logit")
"""Fields of a layer's weights that attention weights are made of."""


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
    eager: EagerPass | None = None,
    receive: OnLayer | None = None,
    weights_alone: bool = False,
) -> Proof:
    """Run a model once and add up the parts of every layer, in float64 if its inputs are.

    Args:
        inputs: a padded batch of texts, or images.
        eager: what the library makes of the first of these inputs, without padding.
        receive: is handed every layer too.
        weights_alone: True to compare attention weights with queries and keys, and nothing else.

    Raises:
        UnfitModel: naming the first part that does not add up, the layer and by how much.
    """
    is_token = inputs.get("attention_mask")
    errors: list[dict[str, float]] = []

    def add_up(index: int, layer: LayerTrace) -> None:
        number = layer.weights.number
        if receive is not None:
            receive(index, layer)
        real = torch.ones_like(layer.input[..., 0], dtype=torch.bool)
        if is_token is not None:
            real = is_token.bool()
        if eager is not None:
            _check_eager(layer, eager.attention[index])
        of_layer = layer.weights
        names = _COMPARED if weights_alone else [field.name for field in fields(of_layer)]
        read = {name: in_dtype(getattr(of_layer, name), layer.input.dtype) for name in names}
        exact = replace(layer, weights=replace(of_layer, **read))
        compared = _weights(exact, real) if weights_alone else _parts(exact, real)
        found = {part: _error(*sides) for part, *sides in compared}
        for part, error in found.items():
            if not error <= _ALLOWED.get(part, _ALLOWED_ELSE):
                raise UnfitModel(
                    f"Layer {number} of the model is not read right: {_SAID[part]} by "
                    f"{error:.1e} of its size."
                )
        errors.append(found)

    if eager is not None and len(eager.attention) != len(layers):
        raise UnfitModel(
            f"Of the {len(eager.attention)} layers of the model {len(layers)} compute attention by "
            "the library's interface; all have to."
        )
    returned = stream_layers(model, parts, layers, inputs, add_up)
    if eager is not None and any(layer.sink_logit is not None for layer in layers):
        _check_output(returned[: len(eager.output)], eager.output)
    return Proof(tuple(errors))


def _check_eager(layer: LayerTrace, theirs: Float[Tensor, "batch head query key"]) -> None:
    ours = layer.attention[: len(theirs)]
    if layer.weights.sink_logit is not None and _is_whole(theirs):
        ours = ours / ours.sum(dim=-1, keepdim=True)
    difference = float((ours - theirs).abs().max())
    if not difference <= _ALLOWED["weights"]:
        raise UnfitModel(
            f"Attention weights of layer {layer.weights.number} differ from those of the library's "
            f"eager attention by {difference:.1e}: its scores have a term that is not covered."
        )


def _is_whole(weights: Float[Tensor, "batch head query key"]) -> bool:
    """Return True if weights sum to 1.

    Some files take a sink's share from what attention returns, and not from its weights.
    """
    return bool((weights.sum(dim=-1) - 1).abs().max() <= _ALLOWED_ELSE)


def _check_output(ours: Tensor, theirs: Tensor) -> None:
    """Raise UnfitModel if the library's own attention makes other hidden states.

    Raises:
        UnfitModel: saying by how much.
    """
    difference = _error(ours, theirs)
    if not difference <= _ALLOWED_ELSE:
        raise UnfitModel(
            "With the library's eager attention the last hidden states differ by "
            f"{difference:.1e} of their size: sink logits enter attention in a way that is not "
            "covered."
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
        given = dict(inputs) | {"input_ids": ids}
        prove(model, parts, blind, given, receive=_check_alike, weights_alone=True)


def _check_alike(_index: int, layer: LayerTrace) -> None:
    """Raise UnfitModel if the equal tokens of the last text enter the model's first layer unlike.

    After a layer without attention they do, if it reads tokens in their order.
    """
    error = _error(layer.input[-1], layer.input[-1, :1].expand_as(layer.input[-1]))
    if layer.weights.number == 1 and not error <= _ALLOWED_ELSE:
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
    "sum": "attention weights of a token, with the share of a sink logit, do not sum to 1",
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
    yield from _weights(layer, real)
    attention = (layer.mixed @ weights.output_weight).sum(dim=1) + weights.output_bias
    yield "attention", attention[real], layer.attention_output[real]
    yield "network", layer_output(layer)[real], layer.output[real]


def _weights(
    layer: LayerTrace, real: Bool[Tensor, "batch token"]
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Attention weights of queries and keys, and those of the model; and the sum of these."""
    weights, by_query = layer.weights, layer.attention.transpose(1, 2)
    seen = weights.pairs(real.shape[1]).to(real.device) & real[:, None, None]
    scores = weights.scores(layer.attention_input).masked_fill(~seen, -torch.inf)
    yield "weights", weights.weights_of(scores).transpose(1, 2)[real], by_query[real]
    total = by_query[real].sum(dim=-1)
    if weights.sink_logit is not None:
        lost = weights.sink_logit[:, None] - scores.logsumexp(-1)
        total = total + lost.sigmoid().transpose(1, 2)[real]
    yield "sum", total, torch.ones_like(total)


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
    base, made = block, network_output(weights.feed_forward, read)
    if order.is_parallel:
        base = layer.input + block
    for step in order.after_network:
        made = made + base if step == "res" else normed(next(norms), made)
    return made
