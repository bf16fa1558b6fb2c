"""Amplitudes by phase and frequency of every head, for a few sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.amplitude_spectrum import wave_length
from analysis.measures.positions.query_key_phase import phase_amplitudes
from analysis.models.trace import LayerTrace
from analysis.statistics.positions.query_key_phase import TABLE
from analysis.statistics.rows import lists_of, table_of
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per exemplar, layer, head and eigenvector of the rotation."""
    parts = [
        _of_layer(sequence, index, layer)
        for sequence, layers in batch.exemplars_alone
        for index, layer in enumerate(layers)
        if wave_length(len(sequence)) and layer.weights.compares_directions
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])


def _of_layer(sequence: Sequence, index: int, layer: LayerTrace) -> pa.Table:
    length = wave_length(len(sequence))
    rotations = layer.weights.query_key_rotation
    inputs = layer.attention_input[0, :length]
    planes = np.array([len(rotation.phases) for rotation in rotations])
    n_rows = planes.sum()
    amplitudes = [phase_amplitudes(inputs, rotation).cpu().numpy() for rotation in rotations]
    return table_of(
        TABLE,
        seq=np.full(n_rows, sequence.index),
        layer=np.full(n_rows, index),
        head=np.arange(len(rotations)).repeat(planes),
        plane=np.concatenate([np.arange(n) for n in planes]),
        length=np.full(n_rows, length),
        phase=np.concatenate([rotation.phases.cpu().numpy() for rotation in rotations]),
        amplitude=lists_of(np.concatenate(amplitudes)),
    )
