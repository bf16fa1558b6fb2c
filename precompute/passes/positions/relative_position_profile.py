"""Attention by relative position, and the share of variance it explains, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.relative_position_profile import position_dependence, window
from analysis.statistics.positions.relative_position_profile import REACH, TABLE
from analysis.statistics.rows import lists_of, nulls_where, table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer and head."""
    by_sequence = [_of_sequence(batch, row) for row in range(len(batch.sequences))]
    profiles, dependences = (np.concatenate(parts) for parts in zip(*by_sequence, strict=True))
    heads = batch.trace.layers[0].attention.shape[1]
    row, layer, head = np.indices((len(by_sequence), len(batch.trace.layers), heads)).reshape(3, -1)
    return table_of(
        TABLE,
        seq=batch.sequence_of_row[row],
        layer=layer,
        head=head,
        n_tokens=np.array([len(sequence) for sequence in batch.sequences])[row],
        profile=lists_of(profiles),
        dependence=nulls_where(dependences),
    )


def _of_sequence(batch: Batch, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Profiles and dependences of every head, layer after layer."""
    real = slice(len(batch.sequences[row]))
    profiles, dependences = [], []
    for layer, sums in zip(batch.trace.layers, batch.attention_sums[row], strict=True):
        is_causal = layer.weights.is_causal
        mask = {"is_causal": is_causal, "window": layer.weights.window}
        attention = layer.attention[row, :, real, real]
        profiles.append(window(sums, REACH, is_causal=is_causal))
        dependences.append(position_dependence(attention, sums, **mask))
    return np.concatenate(profiles), np.concatenate(dependences)
