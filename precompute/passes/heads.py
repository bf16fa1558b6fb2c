"""Attention of single heads, and how similar heads are: rows from layers and gradients."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from analysis.habits import OBJECTIVES, QUANTITIES
from analysis.head_slices import head_slices
from analysis.measures.heads.head_distances import head_distances
from analysis.measures.heads.head_pattern import gradient_importance, head_pattern
from analysis.measures.norms.vector_norms import norm_weighted_attention
from analysis.models.gradients import AttentionGradients
from analysis.statistics.base.columns import HEAD, SEQ, TOKEN_TYPE
from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from analysis.statistics.heads.single_heads import (
    SEQUENCE_GRADIENT_IMPORTANCE,
    SEQUENCE_HEAD_PATTERN,
)
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, SEP, TOKEN_TYPES
from precompute.jobs.bounds import evenly_spaced
from precompute.passes.filling import FromBatch, by_name, fills, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer

COMPARED = 256 * 2**20
"""Bytes that the compared rows of one sequence may take, over all heads and layers."""
TOKENS = 512
"""Tokens in a backward pass, padding included."""


@fills(SEQUENCE_HEAD_PATTERN)
def rows_of_patterns(layer: Layer) -> Iterator[pa.Table]:
    """Return the attention of each head by kind of token, and its entropy, by both weighings."""
    batch, types = layer.batch, layer.batch.token_types
    kinds: dict[str, Any] = {
        "is_cls": types == CLS,
        "is_sep": types == SEP,
        "is_comma_period": types == COMMA_PERIOD,
        "is_first": (types == FIRST) | (types == BOS),
    }
    patterns: dict[str, list[torch.Tensor]] = {weighing: [] for weighing in WEIGHINGS}
    for heads in head_slices(layer.attention.shape):
        weights = layer.attention[:, heads]
        has_sink = layer.weights.sink_logit is not None
        patterns[WEIGHT].append(head_pattern(weights, layer.is_pair, has_sink=has_sink, **kinds))
        norms = norm_weighted_attention(weights, layer.pair_norms[:, heads])
        patterns[NORM].append(head_pattern(norms, layer.is_pair, **kinds))
    for weighing, of_slices in patterns.items():
        yield rows_of_layer(
            layer,
            SEQUENCE_HEAD_PATTERN,
            (SEQ, HEAD),
            weighing=WEIGHINGS.index(weighing),
            n_tokens=batch.is_token.sum(dim=1)[:, None],
            **by_name(QUANTITIES, torch.cat(of_slices, dim=1)),
        )


@fills(HEAD_DISTANCE)
class HeadDistances:
    """Distances between the attention rows of any two heads, added up over sequences.

    Keeps rows of all heads and layers until the end, of the `compared_queries` of each sequence.
    """

    def __init__(self, batch: Batch):
        self._batch = batch
        self._n_heads = len(batch.layers) * batch.n_heads
        kind = torch.promote_types(batch.layers[0].query_weight.dtype, torch.float32)
        lengths = list(map(len, batch.sequences))
        self._queries = [compared_queries(length, self._n_heads) for length in lengths]
        has_gates = any(layer.gate is not None for layer in batch.layers)
        self._rows, self._norms = list[torch.Tensor](), list[torch.Tensor]()
        for queries, length in zip(self._queries, lengths, strict=True):
            n_norms = len(queries) if has_gates else 1
            self._rows.append(torch.empty(self._n_heads, len(queries), length, dtype=kind))
            self._norms.append(torch.empty(self._n_heads, n_norms, length, dtype=kind))

    def add(self, layer: Layer) -> None:
        first = layer.index * self._batch.n_heads
        here = slice(first, first + self._batch.n_heads)
        for row, queries in enumerate(self._queries):
            real = slice(self._norms[row].shape[-1])
            self._rows[row][here] = layer.attention[row, :, real, real][:, queries].cpu()
            norms = layer.pair_norms[row, :, :, real]
            self._norms[row][here] = (norms if norms.shape[1] == 1 else norms[:, queries]).cpu()

    def rows(self) -> pa.Table:
        has_sinks = any(layer.sink_logit is not None for layer in self._batch.layers)
        by_weight = self._divergence(to_no_token=has_sinks)
        for weights, norms in zip(self._rows, self._norms, strict=True):
            for head in range(self._n_heads):
                weights[head] = norm_weighted_attention(weights[head], norms[head])
        both = {WEIGHT: by_weight, NORM: self._divergence()}
        return pa.concat_tables(self._table(weighing, both[weighing]) for weighing in WEIGHINGS)

    def _divergence(self, *, to_no_token: bool = False) -> np.ndarray:
        """Divergence of any two heads, summed over the compared rows of all sequences.

        With `to_no_token` the share that goes to no token is one more outcome of a row.
        """
        total = np.zeros((self._n_heads, self._n_heads))
        for row, (queries, weights) in enumerate(zip(self._queries, self._rows, strict=True)):
            apart = {id(pairs): pairs for pairs in self._batch.pairs[row]}
            seen = np.any([pairs[queries] for pairs in apart.values()], axis=0)
            if to_no_token:
                lost = (1 - weights.sum(dim=-1, keepdim=True)).clamp(min=0)
                weights = torch.cat([weights, lost], dim=-1)
                seen = np.pad(seen, ((0, 0), (0, 1)), constant_values=True)
            total += head_distances(weights, torch.from_numpy(seen))
        return total

    def _table(self, weighing: str, divergence: np.ndarray) -> pa.Table:
        place = np.arange(self._n_heads)
        layer = np.array([of.number for of in self._batch.layers])[place // self._batch.n_heads]
        head = place % self._batch.n_heads + 1
        return rows(
            HEAD_DISTANCE,
            there=np.triu(np.ones_like(divergence, dtype=bool)),
            weighing=WEIGHINGS.index(weighing),
            layer_a=layer[:, None],
            head_a=head[:, None],
            layer_b=layer,
            head_b=head,
            divergence=divergence,
            n_rows=sum(map(len, self._queries)),
        )


def compared_queries(n_tokens: int, n_heads: int) -> list[int]:
    """Return the queries whose rows are compared: all, or as many as fit, evenly spaced."""
    fit = max(1, COMPARED // (n_heads * n_tokens * torch.float32.itemsize))
    return sorted(evenly_spaced(range(n_tokens), fit))


@fills(SEQUENCE_GRADIENT_IMPORTANCE)
class GradientImportance(FromBatch):
    """Gradient importance of heads by type of attended token, from a run of its own at the end.

    Layers as they are traced are not read, and nothing is kept of them. A backward pass holds the
    attention of all layers and its gradient: 8 bytes for each layer, head, query and key of at most
    `TOKENS` tokens, or of one longer sequence (9 GB for 2,048 tokens, 30 layers and 9 heads).
    """

    def rows(self) -> pa.Table:
        """Return the rows of every sequence with a loss; none if the batch cannot be run again."""
        tables = [SEQUENCE_GRADIENT_IMPORTANCE.schema.empty_table()]
        if self.batch.gradients is None:
            return tables[0]
        longest = max(map(len, self.batch.sequences))
        size = max(1, TOKENS // longest)
        for first in range(0, len(self.batch.sequences), size):
            few = slice(first, first + size)
            slopes = self.batch.gradients(self.batch.sequences[few])
            if slopes is not None:
                tables += _importance_rows(self.batch, few, slopes)
        return pa.concat_tables(tables)


def _importance_rows(batch: Batch, few: slice, slopes: AttentionGradients) -> Iterator[pa.Table]:
    longest = slopes.layers[0].shape[-1]
    types = torch.arange(len(TOKEN_TYPES), device=batch.token_types.device)
    is_type = batch.token_types[few, :longest, None] == types
    is_type &= batch.is_token[few, :longest, None]
    there = (is_type.any(dim=1) & slopes.has_loss[:, None]).cpu().numpy()
    for index, gradients in enumerate(slopes.layers):
        is_pair = batch.is_pair[index][few, :longest, :longest]
        yield rows(
            SEQUENCE_GRADIENT_IMPORTANCE,
            (SEQ, HEAD, TOKEN_TYPE),
            there=there[:, None],
            stands_for={"seq": batch.sequence_of_row[few]},
            layer=batch.layers[index].number,
            objective=OBJECTIVES.index(slopes.objective),
            importance=gradient_importance(gradients, is_pair, is_type),
        )
