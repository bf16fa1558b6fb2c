"""Scores and attention by relative position, added up over sequences."""

import numpy as np
import pyarrow as pa
from torch import Tensor

from analysis.measures.positions.query_key_correlation import (
    centred_covariance,
    scored_waves,
    weighted_covariance,
    written_out,
)
from analysis.measures.positions.relative_position_profile import window
from analysis.models.trace import LayerWeights
from analysis.statistics.positions.query_key_correlation import REACH, TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 3
_QUANTITIES = ("value", "attention", "value_centred")
_OFFSETS = np.arange(-REACH, REACH + 1)


def totals(batch: Batch) -> pa.Table:
    """One row per layer, head and offset that occurs in the batch, within the layer's window."""
    n_sequences = np.zeros(len(_OFFSETS), dtype=np.int64)
    sums = 0.0
    for row, sequence in enumerate(batch.sequences):
        n_pairs = np.maximum(len(sequence) - np.abs(_OFFSETS), 0)
        of_sequence = np.where(n_pairs > 0, _of_sequence(batch, row), 0)
        per_pair = of_sequence[:2] / np.maximum(n_pairs, 1)
        sums = sums + np.concatenate([of_sequence, per_pair])
        n_sequences += n_pairs > 0
    seen = np.stack([_seen(traced.weights) for traced in batch.trace.layers])
    heads = batch.trace.layers[0].attention.shape[1]
    there = np.broadcast_to((seen & (n_sequences > 0))[:, None], (len(seen), heads, len(_OFFSETS)))
    layer, head, offset = there.nonzero()
    names = (*_QUANTITIES, "value_per_pair", "attention_per_pair")
    return table_of(
        TABLE,
        layer=layer,
        head=head,
        offset=_OFFSETS[offset],
        n_sequences=n_sequences[offset],
        **{name: values[there] for name, values in zip(names, np.asarray(sums), strict=True)},
    )


def _seen(weights: LayerWeights) -> np.ndarray:
    """Mask of the offsets that queries and keys compare.

    A causal layer has none after the query, a windowed layer none beyond the window, and a layer
    with rows and columns in place of offsets none at all.
    """
    if weights.positions_by == "patches":
        return np.zeros(len(_OFFSETS), dtype=bool)
    near = weights.window is None or np.abs(_OFFSETS) <= weights.window
    return near & ((_OFFSETS <= 0) | (not weights.is_causal))


def _of_sequence(batch: Batch, row: int) -> np.ndarray:
    """`_QUANTITIES`, each by layer, head and offset."""
    real = slice(len(batch.sequences[row]))
    quantities = []
    for layer, sums in zip(batch.trace.layers, batch.attention_sums[row], strict=True):
        weights = layer.weights
        of_scores = _of_scores(layer.attention_input[row, real], weights)
        of_attention = window(sums, REACH, is_causal=False)
        quantities.append([of_scores[0], of_attention, of_scores[1]])
    return np.swapaxes(quantities, 0, 1)


def _of_scores(read: Tensor, weights: LayerWeights) -> tuple[np.ndarray, np.ndarray]:
    """Sums along diagonals of scores, and of scores less the mean of their row."""
    if weights.offset_terms is not None:
        seen = weights.pairs(len(read)).to(read.device)
        scores, centred = written_out(weights.products(read), seen)
        return _near(scores), _near(centred)
    sides = scored_waves(read, weights)
    mask = {"is_causal": weights.is_causal, "window": weights.window}
    scores = weighted_covariance(*sides, reach=REACH)
    centred = centred_covariance(*sides, reach=REACH, **mask)
    return _as_array(scores), _as_array(centred)


def _near(sums: Tensor) -> np.ndarray:
    return window(sums, REACH, is_causal=False)


def _as_array(values: Tensor) -> np.ndarray:
    return values.double().cpu().numpy()
