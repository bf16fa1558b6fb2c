"""Gradient importance of heads by type of attended token, in every sequence.

A batch is run again, a few sequences at a time, since a backward pass needs far more memory than a
trace. A batch that cannot be run again has no rows.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch

from analysis.habits import OBJECTIVES
from analysis.measures.heads.sequence_gradient_importance import gradient_importance
from analysis.models.gradients import AttentionGradients
from analysis.statistics.heads.sequence_gradient_importance import TABLE
from analysis.statistics.rows import names_of, one_name, table_of
from analysis.token_types import TOKEN_TYPES
from precompute.passes.batch import Batch

VERSION = 1
TOKENS = 512
"""Tokens in a backward pass, padding included."""


def totals(batch: Batch) -> pa.Table:
    """One row per sequence with a loss, layer, head and token type that the sequence has."""
    tables = [TABLE.schema.empty_table()]
    if batch.gradients is None:
        return tables[0]
    for rows in _groups(batch):
        slopes = batch.gradients(batch.sequences[rows])
        if slopes is not None:
            tables += _of_layers(batch, rows, slopes)
    return pa.concat_tables(tables)


def _groups(batch: Batch) -> Iterator[slice]:
    """Yield slices of a batch's rows within the limit of `TOKENS`."""
    longest = max(map(len, batch.sequences))
    size = max(1, TOKENS // longest)
    yield from (slice(first, first + size) for first in range(0, len(batch.sequences), size))


def _of_layers(batch: Batch, rows: slice, slopes: AttentionGradients) -> Iterator[pa.Table]:
    longest = slopes.layers[0].shape[-1]
    types = torch.arange(len(TOKEN_TYPES), device=batch.token_types.device)
    is_type = batch.token_types[rows, :longest, None] == types
    is_type &= batch.trace.is_token[rows, :longest, None]
    there = (is_type.any(dim=1) & slopes.has_loss[:, None]).cpu().numpy()
    for index, gradients in enumerate(slopes.layers):
        is_pair = batch.is_pair[index][rows, :longest, :longest]
        sums = gradient_importance(gradients, is_pair, is_type).double().cpu().numpy()
        row, head, token_type = np.nonzero(np.broadcast_to(there[:, None], sums.shape))
        yield table_of(
            TABLE,
            seq=batch.sequence_of_row[rows][row],
            layer=np.full(len(row), index),
            head=head,
            token_type=names_of(token_type),
            objective=one_name(slopes.objective, OBJECTIVES, len(row)),
            importance=sums[row, head, token_type],
        )
