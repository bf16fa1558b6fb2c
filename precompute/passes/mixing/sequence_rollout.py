"""Rollout by type and distance of input tokens, for every sequence."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.measures.mixing.sequence_rollout import (
    DISTANCES,
    distance_places,
    rolled_out,
    shares_of_cells,
    with_residual,
)
from analysis.statistics.mixing.sequence_rollout import ATTENTION_ROLLOUT, TABLE
from analysis.statistics.rows import names_of, table_of
from analysis.statistics.table import Table
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, scope, and token type and distance that the sequence has."""
    scopes = (*batch.order.scopes, ATTENTION_ROLLOUT)
    return pa.concat_tables(
        table
        for sequence, layers, reached in zip(
            batch.sequences, batch.layer_mixing, batch.reached, strict=True
        )
        for table in origins(TABLE, sequence, reached, scopes=scopes, products=rollouts(layers))
    )


def rollouts(layers: tuple[LayerMixing, ...]) -> Iterator[np.ndarray]:
    """Yield shares by scope, query and key after every layer; those of attention rollout come
    last."""
    return rolled_out(map(_maps, layers))


def origins(
    table: Table,
    sequence: Sequence,
    reached: tuple[np.ndarray, ...],
    *,
    scopes: tuple[str, ...],
    products: Iterable[np.ndarray],
) -> list[pa.Table]:
    """Rows of a sequence's shares by type and distance of input tokens, layer by layer.

    Args:
        reached: per layer, mask of the input tokens that can have reached each token.
        products: per layer, shares by scope, query and key.
    """
    shape = (len(TOKEN_TYPES), len(DISTANCES))
    cells = np.ravel_multi_index(
        (
            np.broadcast_to(sequence.token_types, (len(sequence), len(sequence))).astype(np.intp),
            distance_places(len(sequence)),
        ),
        shape,
    )
    tables = []
    for index, (product, pairs) in enumerate(zip(products, reached, strict=True)):
        there = np.unique(cells[pairs])
        token_type, distance = np.unravel_index(there, shape)
        n_rows = len(scopes) * len(there)
        shares = shares_of_cells(product, cells, shape[0] * shape[1])[:, there]
        tables.append(
            table_of(
                table,
                seq=np.full(n_rows, sequence.index),
                layer=np.full(n_rows, index),
                scope=names_of(np.arange(len(scopes)).repeat(len(there)), scopes),
                token_type=names_of(np.tile(token_type, len(scopes))),
                distance=np.tile(np.array(DISTANCES)[distance], len(scopes)),
                share=shares.ravel(),
            )
        )
    return tables


def _maps(layer: LayerMixing) -> np.ndarray:
    """Return the maps of all scopes, then half identity and half attention."""
    maps = layer.maps.numpy()
    return np.concatenate([maps, with_residual(maps[0])[None]])
