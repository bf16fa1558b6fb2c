"""Norms of transformed vectors beside attention weights: rows from layers and weights."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.norms.fair_sample import earliest, sample_priorities
from analysis.measures.norms.joint_histogram import joint_histogram
from analysis.measures.norms.vector_norms import (
    affine_singular_values,
    attention_received,
    linear_singular_values,
    norm_shares_received,
)
from analysis.models.trace import ModelWeights
from analysis.statistics.base.columns import HEAD, POS, SEQ
from analysis.statistics.norms import (
    attention_norm_distribution,
    head_token,
    norm_dispersion,
    singular_value,
)
from analysis.statistics.rows import names_of, nulls_where, table_of
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import fills
from precompute.passes.layers import Batch, Layer
from precompute.passes.rows import rows_of_layer

_STREAM = 1  # the sample's own stream of random numbers, beside the run's seed


@fills(head_token.TABLE)
def rows_of_heads_and_tokens(layer: Layer) -> pa.Table:
    """Return the norm of each token's transformed vector, the attention that it receives and its
    share of norms.

    Formula: `attention_received`, `norm_shares_received`, `value_norms`.
    """
    is_token = layer.batch.is_token
    return rows_of_layer(
        layer,
        head_token.TABLE,
        (SEQ, HEAD, POS),
        value_norm=layer.value_norms,
        attention_received=attention_received(layer.attention, is_token),
        norm_share_received=norm_shares_received(layer.attention, layer.value_norms, is_token),
    )


@fills(norm_dispersion.PER_TOKEN)
def rows_of_tokens(layer: Layer) -> pa.Table:
    """Return the norm of each token's vector as the layer reads it."""
    norms = torch.linalg.vector_norm(layer.trace.input, dim=-1)
    return rows_of_layer(layer, norm_dispersion.PER_TOKEN, (SEQ, POS), input_norm=norms)


@fills(attention_norm_distribution.HISTOGRAM)
def rows_of_bins(layer: Layer) -> pa.Table:
    """Return the number of pairs in each occupied bin of weight and norm.

    Formula: `joint_histogram`, `value_norms`.
    """
    cells, counts = joint_histogram(
        layer.attention, layer.pair_norms, layer.batch.token_types, layer.is_pair
    )
    head, token_type, attention_bin, norm_bin = cells.cpu().numpy().T
    return table_of(
        attention_norm_distribution.HISTOGRAM,
        layer=np.full(len(head), layer.index),
        head=head,
        token_type=names_of(token_type),
        attention_bin=attention_bin,
        norm_bin=norm_bin,
        n=counts.cpu().numpy(),
    )


@fills(attention_norm_distribution.SAMPLE)
class PairSample:
    """Weight and norm of the pairs drawn of every layer, head and token type.

    Keeps the places of the pairs, drawn at the start, and their two numbers: 7 MB for 30 layers of
    9 heads.

    Formula: `earliest`, `sample_priorities`, `value_norms`.
    """

    def __init__(self, batch: Batch):
        shape = (len(batch.layers), batch.n_heads, len(TOKEN_TYPES))
        drawn = [
            _draws(sequence, seen, shape, batch.seed)
            for sequence, seen in zip(batch.sequences, batch.pairs, strict=True)
        ]
        priorities, queries, keys = (
            np.concatenate(arrays, axis=-1) for arrays in zip(*drawn, strict=True)
        )
        kept = earliest(priorities)
        priority, query, key = (
            np.take_along_axis(values, kept, axis=-1) for values in (priorities, queries, keys)
        )
        exists = np.isfinite(priority)
        layer, head, token_type, _ = exists.nonzero()
        row = kept[exists] // attention_norm_distribution.SAMPLE_SIZE
        self._row, self._layer, self._head = row, layer, head
        self._query, self._key = query[exists], key[exists]
        self._attention, self._norm = np.empty((2, len(layer)), dtype=np.float32)
        self._columns = {
            "layer": layer,
            "head": head,
            "token_type": names_of(token_type),
            "priority": priority[exists],
            "seq": batch.sequence_of_row[row],
            "query_pos": self._query,
            "key_pos": self._key,
        }

    def add(self, layer: Layer) -> None:
        here = self._layer == layer.index
        places = (self._row, self._head, self._query, self._key)
        row, head, query, key = (torch.from_numpy(of_all[here]).long() for of_all in places)
        self._attention[here] = layer.attention[row, head, query, key].cpu().numpy()
        norms = layer.pair_norms.expand_as(layer.attention)
        self._norm[here] = norms[row, head, query, key].cpu().numpy()

    def rows(self) -> pa.Table:
        numbers = {"attention": self._attention, "value_norm": self._norm}
        return table_of(attention_norm_distribution.SAMPLE, **self._columns, **numbers)


def _draws(
    sequence: Sequence, seen: tuple[np.ndarray, ...], shape: tuple[int, int, int], seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Priorities, query and key positions of one sequence's pairs, independent of its batch."""
    generator = np.random.default_rng([seed, _STREAM, sequence.index])
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


@fills(singular_value.TABLE)
def rows_of_singular_values(model: ModelWeights) -> pa.Table:
    """Return the singular values of every head's f; the linear part has one rank fewer.

    There are none if any layer's f is no affine map.

    Formula: `affine_singular_values`, `linear_singular_values`.
    """
    if not all(layer.transforms_linearly for layer in model.layers):
        return singular_value.TABLE.schema.empty_table()
    values = np.stack([affine_singular_values(layer).cpu().numpy() for layer in model.layers])
    linear = np.full_like(values, np.nan)
    linear[..., :-1] = [linear_singular_values(layer).cpu().numpy() for layer in model.layers]
    layer, head, rank = np.indices(values.shape).reshape(3, -1)
    return table_of(
        singular_value.TABLE,
        layer=layer,
        head=head,
        rank=rank + 1,
        value=values.ravel(),
        linear_value=nulls_where(linear.ravel()),
    )
