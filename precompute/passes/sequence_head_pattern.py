"""What each head attends to in every sequence, and how broadly."""

import numpy as np
import pyarrow as pa

from analysis.habits import QUANTITIES
from analysis.measures.sequence_head_pattern import head_pattern
from analysis.tables.sequence_head_pattern import TABLE
from precompute.batch import Batch
from precompute.corpora.token_types import CLS, COMMA_PERIOD, SEP
from precompute.passes.base import nulls_where, table_of

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer and head."""
    return pa.concat_tables(_of_layer(batch, index) for index in range(len(batch.trace.layers)))


def _of_layer(batch: Batch, index: int) -> pa.Table:
    types = batch.token_types
    pattern = head_pattern(
        batch.trace.layers[index].attention,
        batch.is_pair,
        is_cls=types == CLS,
        is_sep=types == SEP,
        is_comma_period=types == COMMA_PERIOD,
    )
    n_sequences, heads, n_quantities = pattern.shape
    values = pattern.double().cpu().numpy().reshape(-1, n_quantities)
    columns = {name: nulls_where(values[:, at]) for at, name in enumerate(QUANTITIES)}
    return table_of(
        TABLE,
        seq=batch.sequence_of_row.repeat(heads),
        layer=np.full(len(values), index),
        head=np.tile(np.arange(heads), n_sequences),
        n_tokens=np.array([len(each) for each in batch.sequences]).repeat(heads),
        **columns,
    )
