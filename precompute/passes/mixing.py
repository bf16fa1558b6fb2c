"""Whole layers as sums over their tokens: errors, mixing ratios, similarities, rollouts."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.completeness import (
    attention_block_errors,
    attention_sum_error,
    worst_token,
)
from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.mixing.map_similarity import map_similarities
from analysis.measures.mixing.mixture import ratio_moments, ratios_of_layer
from analysis.measures.mixing.rollout import (
    DISTANCES,
    distance_places,
    rolled_on,
    shares_of_cells,
    with_residual,
)
from analysis.measures.mixing.vector_rollout import TokenVectors, VectorRollout, vector_bytes
from analysis.measures.pairs.mixing_change import row_shares
from analysis.scopes import OF_RATIOS, SCOPES
from analysis.statistics import mixing as tables
from analysis.statistics.base.columns import POS, SEQ
from analysis.statistics.base.tables import Table
from analysis.token_types import FIRST, SPECIAL, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import fills, places_of, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer

MOST_VECTOR_BYTES = 512 * 2**20
"""Memory of a followed sequence's vectors in float32: 418 tokens of width 768, 181 of 4,096."""


@fills(tables.COMPLETENESS)
def attention_completeness(layer: Layer) -> pa.Table:
    """One row per sequence."""
    is_token = layer.batch.is_token
    dtype = layer.batch.model.hidden_dtype
    errors = attention_block_errors(layer.trace, is_token, dtype).cpu()
    of_sequences = (errors[row, : len(one)] for row, one in enumerate(layer.batch.sequences))
    return rows_of_layer(
        layer,
        tables.COMPLETENESS,
        (SEQ,),
        attention_sum_error=attention_sum_error(
            layer.attention, is_token, has_sink=layer.weights.sink_logit is not None
        ),
        **_worst(of_sequences),
    )


@fills(tables.LAYER_COMPLETENESS)
def layer_completeness(layer: Layer) -> pa.Table:
    """One row per sequence."""
    errors = (mixing.errors for mixing in layer.mixing)
    return rows_of_layer(layer, tables.LAYER_COMPLETENESS, (SEQ,), **_worst(errors))


def _worst(errors: Iterable[Float[Tensor, " query"]]) -> dict[str, Any]:
    found = map(np.array, zip(*map(worst_token, errors), strict=True))
    return dict(zip(("relative_error", "worst_pos", "percentile_99"), found, strict=True))


@fills(tables.SEQUENCE_MIXING_RATIO)
def sequence_mixing_ratio(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, scope and token type that the sequence has."""
    scopes = layer.batch.order.of_ratios
    for sequence, mixing in zip(layer.batch.sequences, layer.mixing, strict=True):
        members = {name: of for name, of in _members(sequence).items() if of.any()}
        ratios = _ratios(layer, mixing)
        moments = np.stack([ratio_moments(ratios[:, of]) for of in members.values()], axis=1)
        yield rows_of_layer(
            layer,
            tables.SEQUENCE_MIXING_RATIO,
            seq=sequence.index,
            scope=places_of(scopes, OF_RATIOS),
            token_type=places_of(members, tables.MASK_TYPES)[:, None],
            n=np.array([[of.sum()] for of in members.values()]),
            **dict(zip(("mean", "m2", "min", "max"), moments, strict=True)),
        )


def _members(sequence: Sequence) -> dict[str, np.ndarray]:
    """Masks of the tokens of each type; every token has one type, and belongs to `all`."""
    apart = {TOKEN_TYPES[kind]: sequence.token_types == kind for kind in (*SPECIAL, FIRST)}
    named = {**apart, "mask": sequence.masked}
    other = ~np.logical_or.reduce(list(named.values()))
    return {**named, "other": other, "all": np.ones(len(sequence), dtype=bool)}


def _ratios(layer: Layer, mixing: LayerMixing) -> Float[np.ndarray, "scope token"]:
    """Ratios of one sequence; where heads have sink logits its weights sum to less than 1."""
    has_sink = layer.weights.sink_logit is not None
    given = mixing.maps[0].sum(dim=1).numpy() if has_sink else 1.0
    return ratios_of_layer(mixing.ratios.numpy(), given)


@fills(tables.TOKEN_MIXING_RATIO)
class TokenMixingRatio:
    """One row per token and scope; keeps a sum over the layers for each."""

    def __init__(self, batch: Batch):
        n_scopes = len(batch.order.of_ratios)
        self.batch = batch
        self.sums = [np.zeros((n_scopes, len(sequence))) for sequence in batch.sequences]

    def add(self, layer: Layer) -> None:
        for total, mixing in zip(self.sums, layer.mixing, strict=True):
            total += _ratios(layer, mixing)

    def rows(self) -> pa.Table:
        scopes, n_layers = self.batch.order.of_ratios, len(self.batch.layers)
        return pa.concat_tables(
            rows(
                tables.TOKEN_MIXING_RATIO,
                (tables.RATIO_SCOPE, POS),
                stands_for={"scope": places_of(scopes, OF_RATIOS)},
                seq=sequence.index,
                mean=total / n_layers,
            )
            for sequence, total in zip(self.batch.sequences, self.sums, strict=True)
        )


@fills(tables.SEQUENCE_SCOPE_SIMILARITY)
def sequence_scope_similarity(layer: Layer) -> pa.Table:
    """One row per sequence and pair of scopes whose maps are not constant."""
    scopes = layer.batch.order.scopes
    places = places_of(scopes, SCOPES)
    spearman = np.array(
        [
            map_similarities(mixing.maps.numpy()[:, pairs[layer.index]])
            for mixing, pairs in zip(layer.mixing, layer.batch.pairs, strict=True)
        ]
    )
    return rows_of_layer(
        layer,
        tables.SEQUENCE_SCOPE_SIMILARITY,
        (SEQ,),
        there=np.triu(~np.isnan(spearman), k=1),
        scope_a=places[:, None],
        scope_b=places,
        spearman=spearman,
    )


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
