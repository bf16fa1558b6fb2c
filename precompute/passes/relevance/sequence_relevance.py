"""Every map of relevance of every sequence in a few numbers."""

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float

from analysis.measures.relevance.relevance_summary import QUANTITIES, relevance_summary
from analysis.relevance_rules import ALL
from analysis.statistics.relevance.sequence_relevance import TABLE
from analysis.statistics.rows import names_of, nulls_where, table_of
from analysis.token_types import CLS
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch
from precompute.passes.relevance.relevance_maps import MEAN, NOT_CARRIED, RelevanceMaps

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, rule, layer and head (or their mean)."""
    known = zip(
        batch.sequences, batch.relevance_maps, batch.is_content, batch.coverages, strict=True
    )
    rows = [
        _of(sequence, maps, is_content, coverage)
        for sequence, maps, is_content, coverage in known
        if maps is not None
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of(
    sequence: Sequence,
    relevance: RelevanceMaps,
    is_content: Bool[np.ndarray, " token"],
    coverage: Float[np.ndarray, " patch"] | None,
) -> pa.Table:
    summary = relevance_summary(
        relevance.maps.astype(np.float64),
        is_cls=sequence.token_types == CLS,
        is_content=is_content,
        coverage=coverage,
    )
    columns = {name: nulls_where(summary[:, at]) for at, name in enumerate(QUANTITIES)}
    return table_of(
        TABLE,
        seq=np.full(len(relevance.rule), sequence.index),
        rule=names_of(relevance.rule, ALL),
        layer=relevance.layer,
        head=pa.array(relevance.head, mask=relevance.head == MEAN),
        conservation_error=nulls_where(relevance.conservation_error),
        n_in_place=pa.array(relevance.n_in_place, mask=relevance.n_in_place == NOT_CARRIED),
        **columns,
    )
