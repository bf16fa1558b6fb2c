"""Rank correlation between relevance rules and methods, for every sequence."""

import numpy as np
import pyarrow as pa
from jaxtyping import Bool

from analysis.measures.relevance.relevance_agreement import relevance_agreement
from analysis.relevance_rules import ALL
from analysis.statistics.relevance.sequence_relevance_agreement import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch
from precompute.passes.relevance.relevance_maps import RelevanceMaps

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and pair of rules or methods whose maps are not constant."""
    last = len(batch.trace.layers) - 1
    known = zip(batch.sequences, batch.relevance_maps, batch.is_content, strict=True)
    rows = [
        _of(sequence.index, maps, last, is_content)
        for sequence, maps, is_content in known
        if maps is not None and is_content.sum() > 1
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of(
    seq: int, relevance: RelevanceMaps, layer: int, is_content: Bool[np.ndarray, " token"]
) -> pa.Table:
    maps = relevance.mean_maps(layer)
    rules = np.array([ALL.index(rule) for rule in maps])
    spearman = relevance_agreement(np.stack([mean[is_content] for mean in maps.values()]))
    first, second = np.nonzero(np.triu(~np.isnan(spearman), k=1))
    return table_of(
        TABLE,
        seq=np.full(len(first), seq),
        rule_a=names_of(rules[first], ALL),
        rule_b=names_of(rules[second], ALL),
        spearman=spearman[first, second],
    )
