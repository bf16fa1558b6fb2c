"""Sums of the offset terms of scores over pairs.

Shards store the sums of each sequence, so that fits can resample sequences.
"""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.positions.offset_term import OffsetTotals, bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms
from analysis.statistics.positions.offset_term import SUMS, TABLE
from analysis.statistics.positions.query_key_correlation import REACH
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, head and bucket, before merging; none without offset terms."""
    parts = [
        _rows(sequence.index, index, terms, offset_totals(read, layer.weights))
        for index, layer in enumerate(batch.trace.layers)
        if (terms := layer.weights.offset_terms) is not None
        for sequence, read in batch.without_padding(layer.attention_input)
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])


def _rows(seq: int, layer: int, terms: OffsetTerms, sums: OffsetTotals) -> pa.Table:
    """Rows of every bucket of every head, also of buckets without a pair in this text.

    The scores that the mean query and the mean key give to such buckets count.
    """
    reach = max(terms.reach, REACH)
    offsets = torch.arange(-reach, reach + 1, device=terms.buckets.device)
    bucket, first, last = np.array(bucket_ends(terms.bucket_of(offsets), reach)).T
    heads = len(sums.score)
    head, place = np.indices((heads, len(bucket))).reshape(2, -1)
    return table_of(
        TABLE,
        seq=np.full(head.size, seq),
        layer=np.full(head.size, layer),
        head=head,
        bucket=bucket[place],
        first_offset=first[place],
        last_offset=last[place],
        n_pairs=np.full(head.size, sums.n_pairs),
        **{name: getattr(sums, name).cpu().numpy()[head, bucket[place]] for name in SUMS},
    )
