"""Attention sinks, the scores behind them, and massive activations: rows from layers."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.sinks.attention_sinks import shares_of_no_token, sink_scores, sink_weights
from analysis.measures.sinks.largest_activations import largest_activations
from analysis.sinks import EVERY, NO_TOKEN, POSITIONAL, SCORES, WEIGHTS
from analysis.statistics.base.tables import Table
from analysis.statistics.rows import names_of, nulls_where, table_of
from analysis.statistics.sinks import massive_activation, no_token, sink
from analysis.token_types import TOKEN_TYPES
from precompute.passes.filling import fills
from precompute.passes.layers import Batch, Layer

_TYPES = tuple(name for name in TOKEN_TYPES if name not in POSITIONAL)
PLACES = (*POSITIONAL, *_TYPES)


@fills(sink.PER_SEQUENCE)
def rows_of_weights(layer: Layer) -> pa.Table:
    """Return the attention of every head to each place that a sequence has, with baselines.

    Formula: `sink_weights`, `value_norms`.
    """
    places = layer.batch.shared(places_of)
    norms = {"value_norms": layer.value_norms, "pair_norms": layer.pair_norms}
    weights = sink_weights(layer.attention, is_pair=layer.is_pair, places=places, **norms)
    return _rows(sink.PER_SEQUENCE, layer, weights, WEIGHTS)


@fills(no_token.PER_SEQUENCE)
def rows_of_no_token(layer: Layer) -> pa.Table:
    """Return the share of every head's attention that goes to no token; none without sink logits.

    Formula: `shares_of_no_token`.
    """
    if layer.weights.sink_logit is None:
        return no_token.PER_SEQUENCE.shard_schema.empty_table()
    shares = shares_of_no_token(layer.attention, layer.is_pair).double().cpu().numpy()
    row, head = (places.ravel() for places in np.indices(shares.shape[:2]))
    return table_of(
        no_token.PER_SEQUENCE,
        seq=layer.batch.sequence_of_row[row],
        layer=np.full(len(row), layer.index),
        head=head,
        **{name: nulls_where(shares[row, head, at]) for at, name in enumerate(NO_TOKEN)},
    )


@fills(sink.SEQUENCE_SCORE)
def rows_of_scores(layer: Layer) -> pa.Table:
    """Return the parts of the score excess of each place that a query sees beside another token.

    There are none if scores have terms besides queries and keys.

    Formula: `sink_scores`.
    """
    if layer.weights.offset_terms is not None:
        return sink.SEQUENCE_SCORE.shard_schema.empty_table()
    places = layer.batch.shared(places_of)
    scores = sink_scores(layer.trace.attention_input, layer.weights, layer.is_pair, places=places)
    return _rows(sink.SEQUENCE_SCORE, layer, scores, SCORES)


@fills(massive_activation.PER_SEQUENCE)
def rows_of_activations(layer: Layer) -> Iterator[pa.Table]:
    """Return the largest coordinate of each place in the layer's input.

    And in its output, where no layer follows at once that attends.

    Formula: `largest_activations`.
    """
    number = layer.weights.number
    states = {number - 1: layer.trace.input}
    if number + 1 not in (other.number for other in layer.batch.layers):
        states[number] = layer.trace.output
    for depth, vectors in states.items():
        for row, sequence in enumerate(layer.batch.sequences):
            yield _activations(layer.batch, row, depth, vectors[row, : len(sequence)])


def places_of(batch: Batch) -> Bool[Tensor, "batch place key"]:
    """Masks of the tokens of every place in `PLACES`, without padding."""
    content = torch.zeros_like(batch.is_token)
    for row, is_content in enumerate(batch.is_content):
        content[row, : len(is_content)] = torch.from_numpy(is_content)
    firsts = [tokens & (tokens.cumsum(dim=1) == 1) for tokens in (batch.is_token, content)]
    types = [(batch.token_types == TOKEN_TYPES.index(name)) & batch.is_token for name in _TYPES]
    return torch.stack([*firsts, *types], dim=1)


def _rows(
    table: Table,
    layer: Layer,
    quantities: Float[Tensor, "batch head place value"],
    names: Sequence[str],
) -> pa.Table:
    """Return a row where the first of the named quantities is a number; others may be NULL."""
    values = quantities.double().cpu().numpy()
    row, head, place = np.nonzero(~np.isnan(values[..., 0]))
    of_rows = values[row, head, place]
    return table_of(
        table,
        seq=layer.batch.sequence_of_row[row],
        layer=np.full(len(row), layer.index),
        head=head,
        place=names_of(place, PLACES),
        **{name: nulls_where(of_rows[:, at]) for at, name in enumerate(names)},
    )


def _activations(
    batch: Batch, row: int, depth: int, states: Float[Tensor, "token width"]
) -> pa.Table:
    own = batch.shared(places_of)[row, :, : len(states)]
    places = torch.nn.functional.pad(own, (0, 0, 1, 0), value=True)  # all tokens first
    there = places.any(dim=1)
    activations = largest_activations(states, places[there])
    n_places = int(there.sum())
    return table_of(
        massive_activation.PER_SEQUENCE,
        seq=np.full(n_places, batch.sequence_of_row[row]),
        depth=np.full(n_places, depth),
        place=names_of(there.nonzero()[:, 0].cpu().numpy(), (EVERY, *PLACES)),
        largest=activations.largest.double().cpu().numpy(),
        median=np.full(n_places, activations.median.item()),
        pos=activations.token.cpu().numpy(),
        coordinate=activations.coordinate.cpu().numpy(),
    )
