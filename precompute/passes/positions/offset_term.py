"""What scores have of offsets, added up over pairs."""

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.measures.positions.offset_term import OffsetTotals, bucket_ends, offset_totals
from analysis.models.offset_terms import OffsetTerms
from analysis.models.trace import LayerWeights
from analysis.tables.positions.offset_term import SUMS, TABLE
from analysis.tables.positions.query_key_correlation import REACH
from precompute.passes.base import table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per layer, head and bucket; none of layers whose scores have no terms of offsets."""
    parts = [
        _rows(index, terms, _summed(layer.attention_input, layer.weights, batch))
        for index, layer in enumerate(batch.trace.layers)
        if (terms := layer.weights.offset_terms) is not None
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])


def _summed(padded: Tensor, weights: LayerWeights, batch: Batch) -> OffsetTotals:
    """The sums of all texts, each without its padding."""
    found = [
        offset_totals(padded[row, : len(each)], weights) for row, each in enumerate(batch.sequences)
    ]
    sums = {name: torch.stack([getattr(each, name) for each in found]).sum(dim=0) for name in SUMS}
    return OffsetTotals(**sums, n_pairs=sum(each.n_pairs for each in found))


def _rows(layer: int, terms: OffsetTerms, found: OffsetTotals) -> pa.Table:
    """Every bucket of every head, also those that no pair of these texts is of: what the mean query
    and the mean key would give them counts."""
    reach = max(terms.reach, REACH)
    offsets = torch.arange(-reach, reach + 1, device=terms.buckets.device)
    bucket, first, last = np.array(bucket_ends(terms.bucket_of(offsets), reach)).T
    heads = len(found.score)
    head, place = np.indices((heads, len(bucket))).reshape(2, -1)
    return table_of(
        TABLE,
        layer=np.full(head.size, layer),
        head=head,
        bucket=bucket[place],
        first_offset=first[place],
        last_offset=last[place],
        n_pairs=np.full(head.size, found.n_pairs),
        **{name: getattr(found, name).cpu().numpy()[head, bucket[place]] for name in SUMS},
    )
