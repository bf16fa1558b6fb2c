"""Scores and attention by relative position, added up over sequences."""

import numpy as np
import pyarrow as pa
from torch import Tensor

from analysis.measures.positions.query_key_correlation import (
    centred_covariance,
    weighted_covariance,
)
from analysis.measures.positions.query_key_wave import query_key_waves
from analysis.measures.positions.relative_position_profile import window
from analysis.tables.positions.query_key_correlation import REACH, TABLE
from precompute.passes.base import table_of
from precompute.passes.batch import Batch

VERSION = 2
_QUANTITIES = ("value", "attention", "value_centred")
_OFFSETS = np.arange(-REACH, REACH + 1)


def totals(batch: Batch) -> pa.Table:
    """One row per layer, head and offset that a sequence of the batch has."""
    n_sequences = np.zeros(len(_OFFSETS), dtype=np.int64)
    sums = 0.0
    for row, sequence in enumerate(batch.sequences):
        n_pairs = np.maximum(len(sequence) - np.abs(_OFFSETS), 0)
        found = np.where(n_pairs > 0, _of_sequence(batch, row), 0)
        per_pair = found[:2] / np.maximum(n_pairs, 1)
        sums = sums + np.concatenate([found, per_pair])
        n_sequences += n_pairs > 0
    is_causal = batch.trace.layers[0].weights.is_causal
    there = (n_sequences > 0) & ((_OFFSETS <= 0) | (not is_causal))
    of_offsets = np.asarray(sums)[..., there]
    layer, head, offset = np.indices(of_offsets[0].shape).reshape(3, -1)
    names = (*_QUANTITIES, "value_per_pair", "attention_per_pair")
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        offset=_OFFSETS[there][offset],
        n_sequences=n_sequences[there][offset],
        **{name: each.ravel() for name, each in zip(names, of_offsets, strict=True)},
    )


def _of_sequence(batch: Batch, row: int) -> np.ndarray:
    """`_QUANTITIES`, each by layer, head and offset."""
    real = slice(len(batch.sequences[row]))
    found = []
    for layer, sums in zip(batch.trace.layers, batch.attention_sums[row], strict=True):
        factors, is_causal = layer.weights.query_key, layer.weights.is_causal
        queries, keys = query_key_waves(layer.attention_input[row, real], factors)
        sides = (queries, factors.values, keys)
        scores = weighted_covariance(*sides, reach=REACH)
        centred = centred_covariance(*sides, reach=REACH, is_causal=is_causal)
        of_attention = window(sums, REACH, is_causal=False)
        found.append([_as_array(scores), of_attention, _as_array(centred)])
    return np.swapaxes(found, 0, 1)


def _as_array(values: Tensor) -> np.ndarray:
    return values.double().cpu().numpy()
