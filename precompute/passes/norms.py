"""Norms of transformed vectors beside attention weights: rows from layers and weights."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.norms.fair_sample import SAMPLE_SIZE, earliest, sample_priorities
from analysis.measures.norms.joint_histogram import joint_histogram
from analysis.measures.norms.vector_norms import (
    affine_singular_values,
    attention_received,
    linear_singular_values,
    norm_shares_received,
)
from analysis.models.trace import ModelWeights
from analysis.statistics import norms as tables
from analysis.statistics.base.columns import HEAD, POS, SEQ, TOKEN_TYPE
from analysis.token_types import TOKEN_TYPES
from precompute.passes.filling import fills, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer

_STREAM = 1  # the sample's own stream of random numbers, beside the run's seed


@fills(tables.HEAD_TOKEN)
def head_token(layer: Layer) -> pa.Table:
    """Return ‖f(x)‖ of each token, the attention that it receives and its share of norms."""
    is_token = layer.batch.is_token
    return rows_of_layer(
        layer,
        tables.HEAD_TOKEN,
        (SEQ, HEAD, POS),
        value_norm=layer.value_norms,
        attention_received=attention_received(layer.attention, is_token),
        norm_share_received=norm_shares_received(layer.attention, layer.value_norms, is_token),
    )


@fills(tables.TOKEN_NORM)
def token_norm(layer: Layer) -> pa.Table:
    """Return the norm of each token's vector as the layer reads it."""
    norms = torch.linalg.vector_norm(layer.trace.input, dim=-1)
    return rows_of_layer(layer, tables.TOKEN_NORM, (SEQ, POS), input_norm=norms)


@fills(tables.ATTENTION_NORM_HISTOGRAM)
def attention_norm_histogram(layer: Layer) -> pa.Table:
    """Return the number of pairs in each occupied bin of weight and norm."""
    cells, n = joint_histogram(
        layer.attention, layer.pair_norms, layer.batch.token_types, layer.is_pair
    )
    head, token_type, attention_bin, norm_bin = cells.T
    return rows_of_layer(
        layer,
        tables.ATTENTION_NORM_HISTOGRAM,
        head=head + 1,
        token_type=token_type,
        attention_bin=attention_bin,
        norm_bin=norm_bin,
        n=n,
    )


@fills(tables.ATTENTION_NORM_SAMPLE)
class PairSample:
    """Weight and norm of the pairs drawn of every layer, head and token type.

    Keeps the places of the pairs, drawn at the start, and the rows of each layer: 7 MB for 30
    layers of 9 heads.
    """

    def __init__(self, batch: Batch):
        drawn = zip(*(_draws(batch, row) for row in range(len(batch.sequences))), strict=True)
        priorities, queries, keys = (np.concatenate(arrays, axis=-1) for arrays in drawn)
        kept = earliest(priorities)
        self._priority, self._query, self._key = (
            np.take_along_axis(of_all, kept, axis=-1) for of_all in (priorities, queries, keys)
        )
        self._row = kept // SAMPLE_SIZE
        self._parts = list[pa.Table]()

    def add(self, layer: Layer) -> None:
        row, query, key, priority = (
            of_all[layer.index] for of_all in (self._row, self._query, self._key, self._priority)
        )
        head = np.indices(row.shape)[0]
        places = tuple(torch.from_numpy(of_all).long() for of_all in (row, head, query, key))
        norms = layer.pair_norms.expand_as(layer.attention)
        self._parts.append(
            rows_of_layer(
                layer,
                tables.ATTENTION_NORM_SAMPLE,
                (HEAD, TOKEN_TYPE),
                there=np.isfinite(priority),
                priority=priority,
                seq=layer.batch.sequence_of_row[row],
                query_pos=query,
                key_pos=key,
                attention=layer.attention[places],
                value_norm=norms[places],
            )
        )

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._parts)


def _draws(batch: Batch, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Priorities, query and key positions of one sequence's pairs, independent of its batch."""
    sequence, seen = batch.sequences[row], batch.pairs[row]
    shape = (len(batch.layers), batch.n_heads, len(TOKEN_TYPES))
    generator = np.random.default_rng([batch.seed, _STREAM, sequence.index])
    apart = {id(pairs): pairs for pairs in seen}  # layers that look equally far share theirs
    keys_of_type = [np.flatnonzero(sequence.token_types == kind) for kind in range(shape[2])]
    n_of_mask = {
        known: [pairs[:, keys].sum() for keys in keys_of_type] for known, pairs in apart.items()
    }
    n_of_type = np.array([n_of_mask[id(pairs)] for pairs in seen])[:, None]
    priorities = sample_priorities(generator, shape, np.broadcast_to(n_of_type, shape))
    within = generator.integers(np.maximum(n_of_type, 1)[..., None], size=priorities.shape)
    queries, keys = (np.zeros(priorities.shape, dtype=np.int32) for _ in range(2))
    for known, pairs in apart.items():
        layers = np.array([id(of_layer) == known for of_layer in seen])
        for kind, of_type in enumerate(keys_of_type):
            places = np.flatnonzero(pairs[:, of_type])
            if len(places):  # a type without pairs never arrives
                query, place = np.divmod(places[within[layers, :, kind]], len(of_type))
                queries[layers, :, kind], keys[layers, :, kind] = query, of_type[place]
    return priorities, queries, keys


@fills(tables.SINGULAR_VALUE)
def singular_value(model: ModelWeights) -> pa.Table:
    """Return the singular values of every head's f; the linear part has one rank fewer."""
    values = torch.stack([affine_singular_values(layer) for layer in model.layers])
    linear = torch.stack([linear_singular_values(layer) for layer in model.layers])
    return rows(
        tables.SINGULAR_VALUE,
        tables.SINGULAR_VALUE.key,
        stands_for={"layer": np.array([layer.number for layer in model.layers])},
        value=values,
        linear_value=torch.nn.functional.pad(linear, (0, 1), value=torch.nan),
    )
