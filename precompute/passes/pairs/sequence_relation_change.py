"""Between which kinds of tokens each step changes the mixing, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.pairs.pair_delta import pair_deltas
from analysis.measures.pairs.sequence_relation_change import relation_changes, shares_before
from analysis.scopes import RELATIONS, LayerOrder
from analysis.statistics.pairs.sequence_relation_change import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch

VERSION = 2
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, effect and relation that the sequence has."""
    return pa.concat_tables(
        _rows(sequence.index, index, batch.order, _changes(layer, batch.order, relations, pairs))
        for sequence, layers, relations, seen in zip(
            batch.sequences, batch.layer_mixing, batch.relations, batch.pairs, strict=True
        )
        for index, (layer, pairs) in enumerate(zip(layers, seen, strict=True))
    )


def _changes(
    layer: LayerMixing, order: LayerOrder, relations: np.ndarray, pairs: np.ndarray
) -> tuple[np.ndarray, ...]:
    maps = layer.maps.numpy()
    return relation_changes(shares_before(maps, order), pair_deltas(maps, order), relations, pairs)


def _rows(
    sequence: int, index: int, order: LayerOrder, changes: tuple[np.ndarray, ...]
) -> pa.Table:
    n, before, change, gain = changes
    effects = tuple(order.effects)
    there = np.flatnonzero(n)
    n_rows = len(effects) * len(there)
    return table_of(
        TABLE,
        seq=np.full(n_rows, sequence),
        layer=np.full(n_rows, index),
        effect=names_of(np.arange(len(effects)).repeat(len(there)), effects),
        relation=names_of(np.tile(there, len(effects)), RELATIONS),
        n=np.tile(n[there], len(effects)),
        before=before[:, there].ravel(),
        change=change[:, there].ravel(),
        gain=gain[:, there].ravel(),
    )
