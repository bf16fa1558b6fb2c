"""Maps of relevance of the sequences whose maps are kept."""

import numpy as np
import pyarrow as pa

from analysis.relevance_rules import ALL
from analysis.statistics.relevance.relevance_map import TABLE
from analysis.statistics.rows import lists_of, names_of, table_of
from precompute.passes.batch import Batch
from precompute.passes.relevance.relevance_maps import MEAN, RelevanceMaps

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per kept sequence, rule, layer and head (or their mean)."""
    none = TABLE.shard_schema.empty_table()
    if batch.kept.isdisjoint(sequence.index for sequence in batch.sequences):
        return none
    known = zip(batch.sequences, batch.relevance_maps, strict=True)
    rows = [
        _of(sequence.index, maps)
        for sequence, maps in known
        if sequence.index in batch.kept and maps
    ]
    return pa.concat_tables([none, *rows])


def _of(seq: int, relevance: RelevanceMaps) -> pa.Table:
    return table_of(
        TABLE,
        seq=np.full(len(relevance.rule), seq),
        rule=names_of(relevance.rule, ALL),
        layer=relevance.layer,
        head=pa.array(relevance.head, mask=relevance.head == MEAN),
        relevance=lists_of(relevance.maps),
    )
