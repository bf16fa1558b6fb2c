"""Amplitude spectra of each layer's vectors, added up over sequences, with and without positions.

Every fourth sequence is run twice more, alone: once with zeros for position embeddings, once with
its own embeddings in another order. Unchanged, it is added up once more apart from the others, as
the baseline of the two. A batch that cannot be run again has none of the three.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analysis.measures.positions.amplitude_spectrum import frequencies, wave_length
from analysis.measures.positions.state_spectrum import state_spreads, wave_spread
from analysis.models.trace import Trace
from analysis.statistics.positions.state_spectrum import CONTROLLED, CONTROLS, SOURCES, TABLE
from analysis.statistics.rows import one_name, table_of
from precompute.passes.batch import Batch

VERSION = 1


class _Place(NamedTuple):
    """Key of a sum. Layers count from 0; that of the word embeddings is −1."""

    control: str
    source: str
    layer: int
    length: int


def totals(batch: Batch) -> pa.Table:
    """One row per control, source, layer, length and frequency that the batch has.

    There are none for a model with rotary positions, whose states have no waves of positions.
    """
    if not all(layer.weights.compares_directions for layer in batch.trace.layers):
        return TABLE.shard_schema.empty_table()
    sums: dict[_Place, np.ndarray] = {}
    n_sequences: dict[_Place, int] = {}
    for place, spread in _spreads(batch):
        sums[place] = sums.get(place, 0) + spread
        n_sequences[place] = n_sequences.get(place, 0) + 1
    tables = [_rows(place, sums[place], n_sequences[place]) for place in sums]
    return pa.concat_tables([TABLE.schema.empty_table(), *tables])


def _spreads(batch: Batch) -> Iterator[tuple[_Place, np.ndarray]]:
    for row, sequence in enumerate(batch.sequences):
        length = wave_length(len(sequence))
        if not length:
            continue
        words = wave_spread(batch.trace.word_embeddings[row, :length])
        yield _Place("kept", "word_embedding", -1, length), words.double().cpu().numpy()
        as_it_is = list(_of_layers(batch.trace, row, length, "kept"))
        yield from as_it_is
        if batch.controlled and sequence.index % CONTROLLED == 0:
            yield from ((place._replace(control="compared"), spread) for place, spread in as_it_is)
            for control in ("removed", "permuted"):
                trace = batch.controlled(sequence, control)
                yield from _of_layers(trace, 0, length, control)


def _of_layers(
    trace: Trace, row: int, length: int, control: str
) -> Iterator[tuple[_Place, np.ndarray]]:
    for index, layer in enumerate(trace.layers):
        inputs = layer.attention_input[row, :length]
        for source, spread in state_spreads(inputs, layer.weights.query_key).items():
            yield _Place(control, source, index, length), spread.double().cpu().numpy()


def _rows(place: _Place, sums: np.ndarray, n_sequences: int) -> pa.Table:
    n_rows = len(sums)
    mean, q25, q75, largest = sums.T
    return table_of(
        TABLE,
        control=one_name(place.control, CONTROLS, n_rows),
        source=one_name(place.source, SOURCES, n_rows),
        layer=pa.array(np.full(n_rows, place.layer), mask=np.full(n_rows, place.layer < 0)),
        length=np.full(n_rows, place.length),
        frequency=frequencies(place.length),
        n_sequences=np.full(n_rows, n_sequences),
        mean=mean,
        q25=q25,
        q75=q75,
        max=largest,
    )
