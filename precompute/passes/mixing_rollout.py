"""Rollouts over layers, by products of maps and by vectors."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from analysis.measures.mixing.map_similarity import map_similarities
from analysis.measures.mixing.rollout import (
    DISTANCES,
    distance_places,
    rolled_on,
    shares_of_cells,
    with_residual,
)
from analysis.measures.mixing.vector_rollout import TokenVectors, VectorRollout, vector_bytes
from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics import mixing as tables
from analysis.statistics.base.tables import Table
from analysis.token_types import TOKEN_TYPES
from precompute.passes.filling import fills, places_of, rows_of_layer
from precompute.passes.layers import Batch, Layer

MOST_VECTOR_BYTES = 512 * 2**20
"""Memory of a followed sequence's vectors in float32: 418 tokens of width 768, 181 of 4,096."""


class Rollouts:
    """Products of the maps of all layers up to one, by sequence and scope.

    Keeps n² numbers for each scope and for attention rollout: 0.5 MB for 128 tokens, 134 MB for
    2,048, at eight scopes.
    """

    def __init__(self, batch: Batch):
        self._known: dict[int, tuple[int, np.ndarray]] = {}

    def after(self, layer: Layer, row: int) -> Float[np.ndarray, "scope query key"]:
        """Shares after a layer, those of attention rollout last; the next layer overwrites them."""
        index, product = self._known.get(row, (-1, None))
        if product is None or index < layer.index:
            maps = layer.mixing_of(row).maps.numpy()
            product = rolled_on(product, np.concatenate([maps, with_residual(maps[0])[None]]))
            self._known[row] = layer.index, product
        return product


@fills(tables.SEQUENCE_ROLLOUT)
def sequence_rollout(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, scope, and token type and distance that the sequence has."""
    rollouts, scopes = layer.batch.shared(Rollouts), _rolled_scopes(layer)
    for row in range(len(layer.batch.sequences)):
        yield _origins(tables.SEQUENCE_ROLLOUT, layer, row, scopes, rollouts.after(layer, row))


def _rolled_scopes(layer: Layer) -> tuple[str, ...]:
    return *layer.batch.order.scopes, tables.ATTENTION_ROLLOUT


def _origins(
    table: Table,
    layer: Layer,
    row: int,
    scopes: tuple[str, ...],
    product: Float[np.ndarray, "scope query key"],
) -> pa.Table:
    """Rows of a sequence's shares by type and distance of input tokens."""
    sequence, shape = layer.batch.sequences[row], (len(TOKEN_TYPES), len(DISTANCES))
    distances = distance_places(len(sequence))
    types = np.broadcast_to(sequence.token_types.astype(np.intp), distances.shape)
    cells = np.ravel_multi_index((types, distances), shape)
    there = np.unique(cells[layer.batch.reached[row][layer.index]])
    token_type, distance = np.unravel_index(there, shape)
    return rows_of_layer(
        layer,
        table,
        seq=sequence.index,
        scope=places_of(scopes, tables.ROLLED)[:, None] if scopes else 0,
        token_type=token_type,
        distance=np.array(DISTANCES)[distance],
        share=shares_of_cells(product, cells, shape[0] * shape[1])[:, there],
    )


class Vectors:
    """Vectors of every input token in the followed sequences, after the layers so far.

    Keeps n² · width numbers for each sequence: 50 MB for 128 tokens of width 768. A sequence for
    which that is more than `MOST_VECTOR_BYTES` is left out.
    """

    def __init__(self, batch: Batch):
        width = batch.layers[0].output_weight.shape[-1]
        lengths = {row: len(batch.sequences[row]) for row in batch.rows_of(batch.checked)}
        self._rows = [
            row for row, n in lengths.items() if vector_bytes(n, width) <= MOST_VECTOR_BYTES
        ]
        self._rollouts: dict[int, VectorRollout] = {}
        self._index, self._known = -1, dict[int, TokenVectors]()

    def after(self, layer: Layer) -> dict[int, TokenVectors]:
        """Return the vectors after a layer, by row of the batch."""
        if self._index < layer.index:
            for row in self._rows:
                alone, budget = layer.alone(row), layer.batch.hidden_budget
                if row not in self._rollouts:
                    self._rollouts[row] = VectorRollout(alone.input[0], budget=budget)
                self._known[row] = self._rollouts[row].pass_layer(alone)
            self._index = layer.index
        return self._known


@fills(tables.VECTOR_COMPLETENESS)
def sequence_vector_completeness(layer: Layer) -> pa.Table:
    """One row per followed sequence."""
    known = layer.batch.shared(Vectors).after(layer)
    return rows_of_layer(
        layer,
        tables.VECTOR_COMPLETENESS,
        there=np.ones(len(known), dtype=bool),
        seq=layer.batch.sequence_of_row[list(known)],
        relative_error=np.array([vectors.error for vectors in known.values()]),
        bias_share=np.array([vectors.bias_share for vectors in known.values()]),
    )


@fills(tables.SEQUENCE_VECTOR_ROLLOUT)
def sequence_vector_rollout(layer: Layer) -> Iterator[pa.Table]:
    """One row per followed sequence, and token type and distance that the sequence has."""
    table = tables.SEQUENCE_VECTOR_ROLLOUT
    for row, vectors in layer.batch.shared(Vectors).after(layer).items():
        yield _origins(table, layer, row, (), row_shares(vectors.map.numpy())[None])


@fills(tables.SEQUENCE_VECTOR_AGREEMENT)
def sequence_vector_agreement(layer: Layer) -> Iterator[pa.Table]:
    """One row per followed sequence and scope whose shares are not constant."""
    batch, scopes = layer.batch, _rolled_scopes(layer)
    for row, vectors in batch.shared(Vectors).after(layer).items():
        products = batch.shared(Rollouts).after(layer, row)
        reached = batch.reached[row][layer.index]
        maps = np.stack([row_shares(vectors.map.numpy())[reached], *products[:, reached]])
        spearman = map_similarities(maps)[0, 1:]
        yield rows_of_layer(
            layer,
            tables.SEQUENCE_VECTOR_AGREEMENT,
            there=~np.isnan(spearman),
            seq=batch.sequences[row].index,
            scope=places_of(scopes, tables.ROLLED),
            spearman=spearman,
        )
