"""Whole layers as sums over their tokens: errors, mixing ratios, similarities, rollouts."""

from collections.abc import Iterable, Iterator

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
from analysis.statistics.mixing import completeness, mixing_ratio, scope_similarity
from analysis.statistics.rows import names_of, table_of
from analysis.token_types import FIRST, SPECIAL, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import fills
from precompute.passes.layers import Batch, Layer


@fills(completeness.TABLE)
def attention_completeness(layer: Layer) -> pa.Table:
    """One row per sequence.

    Formula: `attention_block_errors`, `attention_sum_error`, `worst_token`.
    """
    is_token = layer.batch.is_token
    errors = attention_block_errors(layer.trace, is_token, layer.batch.hidden_dtype).cpu()
    return table_of(
        completeness.TABLE,
        attention_sum_error=attention_sum_error(
            layer.attention, is_token, has_sink=layer.weights.sink_logit is not None
        )
        .cpu()
        .numpy(),
        **_worst(
            layer,
            (errors[row, : len(sequence)] for row, sequence in enumerate(layer.batch.sequences)),
        ),
    )


@fills(completeness.WHOLE_LAYERS)
def layer_completeness(layer: Layer) -> pa.Table:
    """One row per sequence.

    Formula: `layer_mixing`, `worst_token`.
    """
    errors = (mixing.errors for mixing in layer.mixing)
    return table_of(completeness.WHOLE_LAYERS, **_worst(layer, errors))


def _worst(layer: Layer, errors: Iterable[Float[Tensor, " query"]]) -> dict[str, np.ndarray]:
    error, worst_pos, percentile = zip(*map(worst_token, errors), strict=True)
    return {
        "seq": layer.batch.sequence_of_row,
        "layer": np.full(len(error), layer.index, dtype=np.uint8),
        "relative_error": np.array(error),
        "worst_pos": np.array(worst_pos),
        "percentile_99": np.array(percentile),
    }


@fills(mixing_ratio.PER_SEQUENCE)
def sequence_mixing_ratio(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, scope and token type that the sequence has.

    Formula: `layer_mixing`, `ratio_moments`, `ratios_of_layer`.
    """
    scopes = layer.batch.order.of_ratios
    for sequence, mixing in zip(layer.batch.sequences, layer.mixing, strict=True):
        members = {name: of for name, of in _members(sequence).items() if of.any()}
        ratios = _ratios(layer, mixing)
        moments = np.stack([ratio_moments(ratios[:, of]) for of in members.values()], axis=1)
        mean, m2, smallest, largest = moments.reshape(4, -1)
        types = np.array([mixing_ratio.MASK_TYPES.index(name) for name in members])
        yield table_of(
            mixing_ratio.PER_SEQUENCE,
            seq=np.full(len(mean), sequence.index),
            layer=np.full(len(mean), layer.index),
            scope=names_of(np.tile(np.arange(len(scopes)), len(types)), scopes),
            token_type=names_of(types.repeat(len(scopes)), mixing_ratio.MASK_TYPES),
            n=np.array([of.sum() for of in members.values()]).repeat(len(scopes)),
            mean=mean,
            m2=m2,
            min=smallest,
            max=largest,
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


@fills(mixing_ratio.PER_TOKEN)
class TokenMixingRatio:
    """One row per token and scope; keeps a sum over the layers for each.

    Formula: `layer_mixing`, `ratios_of_layer`.
    """

    def __init__(self, batch: Batch):
        n_scopes = len(batch.order.of_ratios)
        self.batch = batch
        self.sums = [np.zeros((n_scopes, len(sequence))) for sequence in batch.sequences]

    def add(self, layer: Layer) -> None:
        for total, mixing in zip(self.sums, layer.mixing, strict=True):
            total += _ratios(layer, mixing)

    def rows(self) -> pa.Table:
        scopes, n_layers = self.batch.order.of_ratios, len(self.batch.layers)
        rows = []
        for sequence, total in zip(self.batch.sequences, self.sums, strict=True):
            scope, position = np.indices(total.shape)
            rows.append(
                table_of(
                    mixing_ratio.PER_TOKEN,
                    seq=np.full(total.size, sequence.index),
                    pos=position.ravel(),
                    scope=names_of(scope.ravel(), scopes),
                    mean=(total / n_layers).ravel(),
                )
            )
        return pa.concat_tables(rows)


@fills(scope_similarity.PER_SEQUENCE)
def sequence_scope_similarity(layer: Layer) -> pa.Table:
    """One row per sequence and pair of scopes whose maps are not constant.

    Formula: `layer_mixing`, `map_similarities`.
    """
    scopes = layer.batch.order.scopes
    narrow, wide = np.triu_indices(len(scopes), k=1)
    spearman = np.array(
        [
            map_similarities(mixing.maps.numpy()[:, pairs[layer.index]])[narrow, wide]
            for mixing, pairs in zip(layer.mixing, layer.batch.pairs, strict=True)
        ]
    )
    row, pair = np.nonzero(~np.isnan(spearman))
    return table_of(
        scope_similarity.PER_SEQUENCE,
        seq=layer.batch.sequence_of_row[row],
        layer=np.full(len(row), layer.index),
        scope_a=names_of(narrow[pair], scopes),
        scope_b=names_of(wide[pair], scopes),
        spearman=spearman[row, pair],
    )
