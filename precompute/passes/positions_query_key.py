"""Rows of the tables on the queries and keys of each head and their scores."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.measures.positions.position_spectrum import wave_length
from analysis.measures.positions.query_key_error import ERRORS, relative_errors
from analysis.measures.positions.query_key_form import NEGLIGIBLE
from analysis.measures.positions.query_key_wave import (
    cross_correlation,
    phase_amplitudes,
    query_key_waves,
)
from analysis.measures.positions.score_sums import bucket_ends, offset_totals, plane_totals
from analysis.models.rotary import Rotary
from analysis.models.trace import ModelWeights
from analysis.statistics.positions import query_key_correlation, query_key_wave, score_sums
from analysis.statistics.rows import lists_of, table_of
from precompute.passes.filling import fills
from precompute.passes.layers import Layer


@fills(query_key_wave.SINGULAR_VALUES)
def singular_values(model: ModelWeights) -> Iterator[pa.Table]:
    """One row per layer, head and direction."""
    table = query_key_wave.SINGULAR_VALUES
    for index, layer in enumerate(model.layers):
        if layer.compares_directions:
            values = layer.query_key.values.cpu().numpy()
            head, rank = np.indices(values.shape).reshape(2, -1)
            layers = np.full(values.size, index)
            yield table_of(table, layer=layers, head=head, rank=rank + 1, value=values.ravel())


@fills(query_key_wave.ROTATION)
def rotations(model: ModelWeights) -> Iterator[pa.Table]:
    """One row per layer, head and eigenvector.

    Formula: `phase_amplitudes`, `plane_totals`, `wave_length`.
    """
    for index, layer in enumerate(model.layers):
        rotations = layer.query_key_rotation if layer.compares_directions else ()
        for head, rotation in enumerate(rotations):
            n_planes = len(rotation.phases)
            yield table_of(
                query_key_wave.ROTATION,
                layer=np.full(n_planes, index),
                head=np.full(n_planes, head),
                plane=np.arange(n_planes),
                phase=rotation.phases.cpu().numpy(),
            )


@fills(query_key_wave.AMPLITUDES)
def phases(layer: Layer) -> Iterator[pa.Table]:
    """One row per exemplar, head and eigenvector of the rotation.

    Formula: `phase_amplitudes`, `plane_totals`, `wave_length`.
    """
    table = query_key_wave.AMPLITUDES
    for row in _exemplars(layer):
        text = layer.batch.sequences[row]
        length = wave_length(len(text))
        if not length:
            continue
        inputs, of_heads = layer.trace.attention_input[row, :length], layer.weights
        rotations = of_heads.query_key_rotation
        planes = np.array([len(rotation.phases) for rotation in rotations])
        amplitudes = [phase_amplitudes(inputs, rotation).cpu().numpy() for rotation in rotations]
        n_rows = planes.sum()
        yield table_of(
            table,
            seq=np.full(n_rows, text.index),
            layer=np.full(n_rows, layer.index),
            head=np.arange(len(rotations)).repeat(planes),
            plane=np.concatenate([np.arange(n) for n in planes]),
            length=np.full(n_rows, length),
            phase=np.concatenate([rotation.phases.cpu().numpy() for rotation in rotations]),
            amplitude=lists_of(np.concatenate(amplitudes)),
        )


def _exemplars(layer: Layer) -> tuple[int, ...]:
    """Return the rows of exemplars; none of a layer that compares no directions."""
    batch = layer.batch
    return batch.rows_of(batch.exemplars) if layer.weights.compares_directions else ()


@fills(query_key_wave.TABLE)
def waves(layer: Layer) -> Iterator[pa.Table]:
    """One row per exemplar, head and direction.

    Formula: `cross_correlation`, `query_key_waves`.
    """
    table, reach = query_key_wave.TABLE, query_key_wave.REACH
    ranks, shown = query_key_wave.RANKS, query_key_wave.SHOWN
    for row in _exemplars(layer):
        text, factors = layer.batch.sequences[row], layer.weights.query_key
        values = factors.values[:, :ranks].cpu().numpy()
        sides = query_key_waves(layer.alone(row).attention_input[0], factors)
        queries, keys = (side[..., :ranks] for side in sides)
        middle = len(text) - 1
        first, last = max(middle - reach, 0), 0 if layer.weights.is_causal else reach
        correlations = cross_correlation(queries, keys)[:, first : middle + last + 1]
        correlations, queries, keys = (
            wave.mT.cpu().numpy() for wave in (correlations, queries[:, :shown], keys[:, :shown])
        )
        compares = (values > NEGLIGIBLE * values[:, :1]) & np.isfinite(correlations).all(axis=-1)
        head, rank = compares.nonzero()
        yield table_of(
            table,
            seq=np.full(len(head), text.index),
            layer=np.full(len(head), layer.index),
            head=head,
            rank=rank + 1,
            value=values[compares],
            query=lists_of(queries[compares]),
            key=lists_of(keys[compares]),
            correlation=lists_of(correlations[compares]),
        )


@fills(query_key_correlation.ERRORS)
def errors(layer: Layer) -> pa.Table:
    """One row per exemplar.

    Formula: `relative_errors`.
    """
    batch = layer.batch
    rows = batch.rows_of(batch.exemplars)
    found = [relative_errors(layer.alone(row), batch.hidden_dtype).tolist() for row in rows]
    columns = np.array(found, dtype=np.float64).reshape(-1, len(ERRORS)).T
    return table_of(
        query_key_correlation.ERRORS,
        seq=batch.sequence_of_row[list(rows)],
        layer=np.full(len(rows), layer.index),
        **dict(zip(ERRORS, columns, strict=True)),
    )


@fills(score_sums.PLANES)
def planes(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, head and plane, after one for the coordinates without rotation.

    Formula: `plane_totals`.
    """
    table, rotary = score_sums.PLANES, layer.weights.rotary
    if not isinstance(rotary, Rotary):
        return
    frequencies = np.concatenate([[0.0], _array(rotary.frequencies.double())])
    names = (*score_sums.COMPLEX, *score_sums.REAL)
    for text, read in layer.batch.without_padding(layer.trace.attention_input):
        totals = plane_totals(read, layer.weights)
        head, plane = np.indices((len(totals.score), len(frequencies))).reshape(2, -1)
        no_plane = {name: np.zeros(len(totals.score)) for name in names}
        no_plane["score"] = _array(totals.unturned)
        sums = {
            name: np.column_stack([no_plane[name], _array(getattr(totals, name))]).ravel()
            for name in names
        }
        yield table_of(
            table,
            seq=np.full(head.size, text.index),
            layer=np.full(head.size, layer.index),
            head=head,
            plane=score_sums.UNTURNED + plane,
            frequency=frequencies[plane],
            n_pairs=np.full(head.size, totals.n_pairs),
            **{name: sums[name] for name in score_sums.REAL},
            **{f"{name}_real": sums[name].real for name in score_sums.COMPLEX},
            **{f"{name}_imaginary": sums[name].imag for name in score_sums.COMPLEX},
        )


@fills(score_sums.BUCKETS)
def buckets(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, head and bucket of offsets.

    Buckets without a pair in a text have rows too: the scores that the mean query and the mean key
    give to them count.

    Formula: `bucket_ends`, `offset_totals`.
    """
    table, terms = score_sums.BUCKETS, layer.weights.offset_terms
    if terms is None:
        return
    reach = max(terms.reach, query_key_correlation.REACH)
    offsets = torch.arange(-reach, reach + 1, device=terms.buckets.device)
    bucket, first, last = np.array(bucket_ends(terms.bucket_of(offsets), reach)).T
    head, place = np.indices((layer.batch.n_heads, len(bucket))).reshape(2, -1)
    for text, read in layer.batch.without_padding(layer.trace.attention_input):
        totals = offset_totals(read, layer.weights)
        sums = {name: _array(getattr(totals, name)) for name in score_sums.BUCKET_SUMS}
        yield table_of(
            table,
            seq=np.full(head.size, text.index),
            layer=np.full(head.size, layer.index),
            head=head,
            bucket=bucket[place],
            first_offset=first[place],
            last_offset=last[place],
            n_pairs=np.full(head.size, totals.n_pairs),
            **{name: of_buckets[head, bucket[place]] for name, of_buckets in sums.items()},
        )


def _array(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
