"""Mixing ratios by scope and token type, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.mixing.mixing_ratio import ratio_moments, ratios_of_layer
from analysis.statistics.mixing.sequence_mixing_ratio import MASK_TYPES, TABLE
from analysis.statistics.rows import names_of, table_of
from analysis.token_types import FIRST, SPECIAL, TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 3
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, scope and token type that the sequence has."""
    return pa.concat_tables(
        _rows(sequence, index, layer, batch.order.of_ratios)
        for sequence, layers in zip(batch.sequences, batch.layer_mixing, strict=True)
        for index, layer in enumerate(layers)
    )


def _rows(sequence: Sequence, index: int, layer: LayerMixing, scopes: tuple[str, ...]) -> pa.Table:
    members = {name: of for name, of in _members(sequence).items() if of.any()}
    ratios = ratios_of_layer(layer.ratios.numpy())
    moments = np.stack([ratio_moments(ratios[:, of]) for of in members.values()], axis=1)
    mean, m2, smallest, largest = moments.reshape(4, -1)
    n = np.array([of.sum() for of in members.values()])
    types = np.array([MASK_TYPES.index(name) for name in members])
    return table_of(
        TABLE,
        seq=np.full(len(mean), sequence.index),
        layer=np.full(len(mean), index),
        scope=names_of(np.tile(np.arange(len(scopes)), len(types)), scopes),
        token_type=names_of(types.repeat(len(scopes)), MASK_TYPES),
        n=n.repeat(len(scopes)),
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
