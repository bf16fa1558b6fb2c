"""Maps of relevance of the sequences whose maps are kept."""

import numpy as np
import pyarrow as pa

from analysis.relevance_rules import ALL
from analysis.tables.relevance.relevance_map import TABLE
from precompute.passes.base import lists_of, names_of, table_of
from precompute.passes.batch import Batch
from precompute.passes.relevance.relevance_maps import MEAN, RelevanceMaps

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per kept sequence, rule, layer and head (or their mean)."""
    none = TABLE.shard_schema.empty_table()
    if batch.kept.isdisjoint(each.index for each in batch.sequences):
        return none
    known = zip(batch.sequences, batch.relevance_maps, strict=True)
    rows = [_of(each.index, maps) for each, maps in known if each.index in batch.kept and maps]
    return pa.concat_tables([none, *rows])


def _of(seq: int, found: RelevanceMaps) -> pa.Table:
    return table_of(
        TABLE,
        seq=np.full(len(found.rule), seq),
        rule=names_of(found.rule, ALL),
        layer=found.layer,
        head=pa.array(found.head, mask=found.head == MEAN),
        relevance=lists_of(found.maps),
    )
