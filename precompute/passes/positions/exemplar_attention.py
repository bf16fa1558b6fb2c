"""The first tokens' attention maps of the few sequences whose maps are kept."""

import numpy as np
import pyarrow as pa

from analysis.models.trace import LayerTrace
from analysis.statistics.positions.exemplar_attention import SHOWN, TABLE
from analysis.statistics.rows import lists_of, table_of
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per exemplar, layer and head."""
    parts = [_of_sequence(*exemplar) for exemplar in batch.exemplars_alone]
    return pa.concat_tables([TABLE.schema.empty_table(), *parts])


def _of_sequence(sequence: Sequence, layers: tuple[LayerTrace, ...]) -> pa.Table:
    n = min(SHOWN, len(sequence))
    maps = np.stack([traced.attention[0, :, :n, :n].cpu().numpy() for traced in layers])
    layer, head = np.divmod(np.arange(maps.shape[0] * maps.shape[1]), maps.shape[1])
    return table_of(
        TABLE,
        seq=np.full(len(layer), sequence.index),
        layer=layer,
        head=head,
        n=np.full(len(layer), n),
        attention=lists_of(maps.reshape(len(layer), n * n)),
    )
