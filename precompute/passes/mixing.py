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
from analysis.scopes import OF_RATIOS, SCOPES
from analysis.statistics import mixing as tables
from analysis.statistics.base.columns import POS, SEQ
from analysis.token_types import FIRST, SPECIAL, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import fills, places_of, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer


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
