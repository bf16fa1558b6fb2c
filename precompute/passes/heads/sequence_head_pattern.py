"""Attention of each head by kind of token, and its entropy, in every sequence."""

import numpy as np
import pyarrow as pa

from analysis.habits import QUANTITIES
from analysis.measures.heads.sequence_head_pattern import head_pattern
from analysis.statistics.heads.sequence_head_pattern import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.rows import nulls_where, one_name, table_of
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, SEP
from precompute.passes.batch import Batch

VERSION = 3


def totals(batch: Batch) -> pa.Table:
    """One row per weighing, sequence, layer and head."""
    return pa.concat_tables(
        _of_layer(batch, index, weighing)
        for index in range(len(batch.trace.layers))
        for weighing in WEIGHINGS
    )


def _of_layer(batch: Batch, index: int, weighing: str) -> pa.Table:
    types = batch.token_types
    pattern = head_pattern(
        batch.every_pair(index, weighing),
        batch.is_pair[index],
        is_cls=types == CLS,
        is_sep=types == SEP,
        is_comma_period=types == COMMA_PERIOD,
        is_first=(types == FIRST) | (types == BOS),
    )
    n_sequences, heads, n_quantities = pattern.shape
    values = pattern.double().cpu().numpy().reshape(-1, n_quantities)
    columns = {name: nulls_where(values[:, at]) for at, name in enumerate(QUANTITIES)}
    return table_of(
        TABLE,
        weighing=one_name(weighing, WEIGHINGS, len(values)),
        seq=batch.sequence_of_row.repeat(heads),
        layer=np.full(len(values), index),
        head=np.tile(np.arange(heads), n_sequences),
        n_tokens=np.array([len(sequence) for sequence in batch.sequences]).repeat(heads),
        **columns,
    )
