"""The first tokens' attention maps of the few sequences whose maps are kept."""

import numpy as np
import pyarrow as pa

from analysis.tables.positions.exemplar_attention import SHOWN, TABLE
from precompute.passes.base import lists_of, table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per exemplar, layer and head."""
    return pa.concat_tables(
        [
            TABLE.schema.empty_table(),
            *(
                _of_sequence(batch, row)
                for row, sequence in enumerate(batch.sequences)
                if sequence.index in batch.exemplars
            ),
        ]
    )


def _of_sequence(batch: Batch, row: int) -> pa.Table:
    sequence = batch.sequences[row]
    n = min(SHOWN, len(sequence))
    maps = np.stack([each.attention[row, :, :n, :n].cpu().numpy() for each in batch.trace.layers])
    layer, head = np.divmod(np.arange(maps.shape[0] * maps.shape[1]), maps.shape[1])
    return table_of(
        TABLE,
        seq=np.full(len(layer), sequence.index),
        layer=layer,
        head=head,
        n=np.full(len(layer), n),
        attention=lists_of(maps.reshape(len(layer), n * n)),
    )
