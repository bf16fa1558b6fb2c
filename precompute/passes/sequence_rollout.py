"""Where what has come together in a token is from, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.layer_mixing import LayerMixing
from analysis.measures.sequence_rollout import (
    DISTANCES,
    distance_places,
    rolled_out,
    shares_of_cells,
    with_residual,
)
from analysis.tables.sequence_rollout import ATTENTION_ROLLOUT, TABLE
from precompute.batch import Batch
from precompute.corpora.sequence import TOKEN_TYPES, Sequence
from precompute.passes.base import names_of, table_of

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, scope, and token type and distance that the sequence has."""
    return pa.concat_tables(
        table
        for sequence, layers, pairs in zip(
            batch.sequences, batch.layer_mixing, batch.pairs, strict=True
        )
        for table in _of_layers(sequence, layers, pairs, (*batch.order.scopes, ATTENTION_ROLLOUT))
    )


def _of_layers(
    sequence: Sequence,
    layers: tuple[LayerMixing, ...],
    pairs: np.ndarray,
    rollouts: tuple[str, ...],
) -> list[pa.Table]:
    shape = (len(TOKEN_TYPES), len(DISTANCES))
    cells = np.ravel_multi_index(
        (
            np.broadcast_to(sequence.token_types, (len(sequence), len(sequence))).astype(np.intp),
            distance_places(len(sequence)),
        ),
        shape,
    )
    there = np.unique(cells[pairs])
    token_type, distance = np.unravel_index(there, shape)
    n_rows = len(rollouts) * len(there)
    return [
        table_of(
            TABLE,
            seq=np.full(n_rows, sequence.index),
            layer=np.full(n_rows, index),
            scope=names_of(np.arange(len(rollouts)).repeat(len(there)), rollouts),
            token_type=names_of(np.tile(token_type, len(rollouts))),
            distance=np.tile(np.array(DISTANCES)[distance], len(rollouts)),
            share=shares_of_cells(product, cells, shape[0] * shape[1])[:, there].ravel(),
        )
        for index, product in enumerate(rolled_out(map(_maps, layers)))
    ]


def _maps(layer: LayerMixing) -> np.ndarray:
    """The maps of all scopes, then half of each token's own vector and half of the attention."""
    maps = layer.maps.numpy()
    return np.concatenate([maps, with_residual(maps[0])[None]])
