"""Between which kinds of tokens each step changes the mixing, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.layer_mixing import LayerMixing
from analysis.measures.pair_delta import pair_deltas
from analysis.measures.sequence_relation_change import relation_changes
from analysis.scopes import EFFECTS, RELATIONS
from analysis.tables.sequence_relation_change import TABLE
from precompute.passes.base import Batch, names_of, table_of

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, effect and relation that the sequence has."""
    return pa.concat_tables(
        _rows(sequence.index, index, layer, relations)
        for sequence, layers, relations in zip(
            batch.sequences, batch.layer_mixing, batch.relations, strict=True
        )
        for index, layer in enumerate(layers)
    )


def _rows(sequence: int, index: int, layer: LayerMixing, relations: np.ndarray) -> pa.Table:
    n, change, gain = relation_changes(pair_deltas(layer.maps.numpy()), relations)
    there = np.flatnonzero(n)
    n_rows = len(EFFECTS) * len(there)
    return table_of(
        TABLE,
        seq=np.full(n_rows, sequence),
        layer=np.full(n_rows, index),
        effect=names_of(np.arange(len(EFFECTS)).repeat(len(there)), tuple(EFFECTS)),
        relation=names_of(np.tile(there, len(EFFECTS)), RELATIONS),
        n=np.tile(n[there], len(EFFECTS)),
        change=change[:, there].ravel(),
        gain=gain[:, there].ravel(),
    )
