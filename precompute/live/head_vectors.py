"""Vectors that a head adds up for one token of one sequence, without the mixing that follows."""

from precompute.corpora.sequence import Sequence
from precompute.live.answers import HeadVectors
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers


def head_vectors(
    model: LoadedModel, sequence: Sequence, *, layer: int, head: int, query: int
) -> HeadVectors:
    """α and f(x) of every key for one query, counted from 0; layer and head count from 1.

    Their weighted sum is the head's part of attention's output; the output bias is no head's.
    """
    found: list[HeadVectors] = []

    def receive(traced: Layer) -> None:
        if traced.weights.number != layer:
            return
        trace = traced.alone(0)
        values, gate = trace.values[0, head - 1], trace.gate
        scaled = values if gate is None else values * gate[0, head - 1, query]
        vectors = scaled @ trace.weights.output_weight[head - 1]
        weights = trace.attention[0, head - 1, query]
        found.append(HeadVectors(weights.cpu().numpy(), vectors.cpu().numpy()))

    run_layers(model, batch_of(model, [sequence]), receive)
    return found[0]
