"""The largest coordinate of each place's hidden states, before and after every layer."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.measures.sinks.sequence_massive_activation import largest_activations
from analysis.sinks import EVERY
from analysis.statistics.rows import names_of, table_of
from analysis.statistics.sinks.sequence_massive_activation import TABLE
from precompute.passes.batch import Batch
from precompute.passes.sinks.places import PLACES, places_of

VERSION = 1
_PLACES = (EVERY, *PLACES)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, depth and place that the sequence has."""
    return pa.concat_tables(
        _of_state(batch, depth, row, places)
        for row, places in enumerate(_places_of_rows(batch))
        for depth in range(len(batch.trace.layers) + 1)
    )


def _places_of_rows(batch: Batch) -> Iterator[Tensor]:
    """Masks of each place's tokens in every sequence, all tokens first; without padding."""
    for sequence, places in zip(batch.sequences, places_of(batch), strict=True):
        yield torch.nn.functional.pad(places[:, : len(sequence)], (0, 0, 1, 0), value=True)


def _of_state(batch: Batch, depth: int, row: int, places: Tensor) -> pa.Table:
    """Largest activations of a sequence's vectors after a number of layers."""
    layers = batch.trace.layers
    states = layers[depth].input if depth < len(layers) else layers[-1].output
    there = places.any(dim=1)
    activations = largest_activations(states[row, : places.shape[1]], places[there])
    n_places = int(there.sum())
    return table_of(
        TABLE,
        seq=np.full(n_places, batch.sequence_of_row[row]),
        depth=np.full(n_places, depth),
        place=names_of(there.nonzero()[:, 0].cpu().numpy(), _PLACES),
        largest=activations.largest.double().cpu().numpy(),
        median=np.full(n_places, activations.median.item()),
        pos=activations.token.cpu().numpy(),
        coordinate=activations.coordinate.cpu().numpy(),
    )
