"""Attention sinks, the scores behind them, and massive activations: rows from layers."""

import pyarrow as pa
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.sinks.attention_sinks import shares_of_no_token, sink_scores, sink_weights
from analysis.measures.sinks.largest_activations import largest_activations
from analysis.sinks import NO_TOKEN, SCORES, WEIGHTS
from analysis.statistics import sinks as tables
from analysis.statistics.base.columns import HEAD, SEQ
from analysis.statistics.base.tables import Table
from analysis.token_types import TOKEN_TYPES
from precompute.passes.filling import by_name, fills, rows_of_layer
from precompute.passes.layers import Batch, Layer


@fills(tables.SEQUENCE_SINK)
def sequence_sink(layer: Layer) -> pa.Table:
    """Return the attention of every head to each place that a sequence has, with baselines."""
    weights = sink_weights(
        layer.attention,
        layer.value_norms,
        layer.is_pair,
        places=layer.batch.shared(places_of),
        pair_norms=layer.pair_norms,
    )
    return _rows_of_places(layer, tables.SEQUENCE_SINK, by_name(WEIGHTS, weights))


@fills(tables.SEQUENCE_SINK_SCORE)
def sequence_sink_score(layer: Layer) -> pa.Table:
    """Return the parts of the score excess of each place that a query sees beside another token."""
    places = layer.batch.shared(places_of)
    scores = sink_scores(layer.trace.attention_input, layer.weights, layer.is_pair, places=places)
    return _rows_of_places(layer, tables.SEQUENCE_SINK_SCORE, by_name(SCORES, scores))


def _rows_of_places(layer: Layer, table: Table, numbers: dict[str, Tensor]) -> pa.Table:
    """Return a row where the first of the numbers is one."""
    there = ~next(iter(numbers.values())).isnan()
    return rows_of_layer(layer, table, (SEQ, HEAD, tables.PLACE), there=there, **numbers)


@fills(tables.SEQUENCE_NO_TOKEN)
def sequence_no_token(layer: Layer) -> pa.Table:
    """Return the share of every head's attention that goes to no token."""
    shares = by_name(NO_TOKEN, shares_of_no_token(layer.attention, layer.is_pair))
    return rows_of_layer(layer, tables.SEQUENCE_NO_TOKEN, (SEQ, HEAD), **shares)


@fills(tables.SEQUENCE_MASSIVE_ACTIVATION)
def sequence_massive_activation(layer: Layer) -> pa.Table:
    """Return the largest coordinate of each place in the layer's input.

    And in its output, where no layer follows at once that attends.
    """
    number, batch = layer.weights.number, layer.batch
    states = {number - 1: layer.trace.input}
    if number + 1 not in (other.number for other in batch.layers):
        states[number] = layer.trace.output
    return pa.concat_tables(
        _activations(layer, depth, row, vectors[row, : len(sequence)])
        for depth, vectors in states.items()
        for row, sequence in enumerate(batch.sequences)
    )


def _activations(
    layer: Layer, depth: int, row: int, states: Float[Tensor, "token width"]
) -> pa.Table:
    own = layer.batch.shared(places_of)[row, :, : len(states)]
    places = torch.nn.functional.pad(own, (0, 0, 1, 0), value=True)  # all tokens first
    there = places.any(dim=1)
    found = largest_activations(states, places[there])
    return rows_of_layer(
        layer,
        tables.SEQUENCE_MASSIVE_ACTIVATION,
        seq=layer.batch.sequence_of_row[row],
        depth=depth,
        place=there.nonzero()[:, 0],
        largest=found.largest,
        median=found.median,
        pos=found.token,
        coordinate=found.coordinate,
    )


def places_of(batch: Batch) -> Bool[Tensor, "batch place key"]:
    """Masks of the tokens of every place, in the order of its names, without padding."""
    content = torch.zeros_like(batch.is_token)
    for row, is_content in enumerate(batch.is_content):
        content[row, : len(is_content)] = torch.from_numpy(is_content)
    firsts = [tokens & (tokens.cumsum(dim=1) == 1) for tokens in (batch.is_token, content)]
    types = [
        (batch.token_types == TOKEN_TYPES.index(name)) & batch.is_token for name in tables.OF_TYPES
    ]
    return torch.stack([*firsts, *types], dim=1)
