"""Attention of the heads of one layer of one sequence, without the mixing that follows."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from precompute.corpora.sequence import Sequence
from precompute.live.answers import HeadVectors
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers

_Found = TypeVar("_Found")


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
