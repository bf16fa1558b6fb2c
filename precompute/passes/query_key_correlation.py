"""Scores and attention by relative position, added up over sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.query_key_correlation import weighted_covariance
from analysis.measures.query_key_wave import query_key_waves
from analysis.measures.relative_position_profile import window
from analysis.tables.query_key_correlation import REACH, TABLE
from precompute.batch import Batch
from precompute.passes.base import table_of

VERSION = 1
_OFFSETS = np.arange(-REACH, REACH + 1)


def totals(batch: Batch) -> pa.Table:
    """One row per layer, head and offset that a sequence of the batch has."""
    n_sequences = np.zeros(len(_OFFSETS), dtype=np.int64)
    sums = 0.0
    for row, sequence in enumerate(batch.sequences):
        n_pairs = np.maximum(len(sequence) - np.abs(_OFFSETS), 0)
        found = np.where(n_pairs > 0, _of_sequence(batch, row), 0)
        per_pair = found / np.maximum(n_pairs, 1)
        sums = sums + np.concatenate([found, per_pair])
        n_sequences += n_pairs > 0
    sums = np.asarray(sums)
    is_causal = batch.trace.layers[0].weights.is_causal
    there = (n_sequences > 0) & ((_OFFSETS <= 0) | (not is_causal))
    layer, head, offset = np.indices(sums[0][..., there].shape).reshape(3, -1)
    value, attention, value_per_pair, attention_per_pair = sums[..., there].reshape(4, -1)
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        offset=_OFFSETS[there][offset],
        n_sequences=n_sequences[there][offset],
        value=value,
        attention=attention,
        value_per_pair=value_per_pair,
        attention_per_pair=attention_per_pair,
    )


def _of_sequence(batch: Batch, row: int) -> np.ndarray:
    """Scores and attention, each by layer, head and offset."""
    real = slice(len(batch.sequences[row]))
    scores, attention = [], []
    for layer, sums in zip(batch.trace.layers, batch.attention_sums[row], strict=True):
        factors = layer.weights.query_key
        queries, keys = query_key_waves(layer.attention_input[row, real], factors)
        found = weighted_covariance(queries, factors.values, keys, reach=REACH)
        scores.append(found.double().cpu().numpy())
        attention.append(window(sums, REACH, is_causal=False))
    return np.array([scores, attention])
