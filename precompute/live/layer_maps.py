"""Maps of one layer of one sequence: of its mixing, and of the attention of its heads alone."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.norms.weighing import NORM, WEIGHT
from precompute.corpora.sequence import Sequence
from precompute.live.answers import HeadVectors, LayerMaps
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers

_Found = TypeVar("_Found")


def layer_maps(model: LoadedModel, sequence: Sequence, *, layer: int) -> LayerMaps:
    """All maps of one layer, counted from 1; one thread at a time."""
    return _of_layer(model, sequence, layer, _maps)


def head_shares(
    model: LoadedModel, sequence: Sequence, *, layer: int, weighing: str
) -> Float[np.ndarray, "head query key"]:
    """Attention of the heads of one layer, counted from 1, by weights or by norms.

    Every row sums to 1.
    """

    def weighed(traced: Layer) -> Float[np.ndarray, "head query key"]:
        return traced.weighed_alone(0, weighing).cpu().numpy()

    return _of_layer(model, sequence, layer, weighed)


def head_vectors(
    model: LoadedModel, sequence: Sequence, *, layer: int, head: int, query: int
) -> HeadVectors:
    """α and f(x) of every key for one query, counted from 0; layer and head count from 1.

    Their weighted sum is the head's part of attention's output; the output bias is no head's.
    """

    def of_query(traced: Layer) -> HeadVectors:
        trace = traced.alone(0)
        values, gate = trace.values[0, head - 1], trace.gate
        scaled = values if gate is None else values * gate[0, head - 1, query]
        vectors = scaled @ trace.weights.output_weight[head - 1]
        weights = trace.attention[0, head - 1, query]
        return HeadVectors(weights.cpu().numpy(), vectors.cpu().numpy())

    return _of_layer(model, sequence, layer, of_query)


def _of_layer(
    model: LoadedModel, sequence: Sequence, layer: int, of: Callable[[Layer], _Found]
) -> _Found:
    found: list[_Found] = []

    def receive(traced: Layer) -> None:
        if traced.weights.number == layer:
            found.append(of(traced))

    run_layers(model, batch_of(model, [sequence]), receive)
    return found[0]


def _maps(layer: Layer) -> LayerMaps:
    return LayerMaps(
        scopes=row_shares(layer.mixing_of(0).maps.numpy()),
        weights=layer.weighed_alone(0, WEIGHT).cpu().numpy(),
        norms=layer.weighed_alone(0, NORM).cpu().numpy(),
    )
