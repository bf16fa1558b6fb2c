"""Rows of the tables on the queries and keys of each head and their scores."""

from collections.abc import Iterator
from typing import Any

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
from analysis.statistics.base.columns import HEAD
from analysis.statistics.positions import scores as tables
from analysis.statistics.positions.sums import BUCKET_SUMS, COMPLEX, OFFSET_TERM, REAL, ROTARY_PLANE
from precompute.passes.filling import by_name, fills, rows
from precompute.passes.layers import Layer


@fills(tables.QUERY_KEY_SINGULAR_VALUE)
def singular_values(model: ModelWeights) -> Iterator[pa.Table]:
    """One row per layer, head and direction."""
    for layer in model.layers:
        if layer.compares_directions:
            values = layer.query_key.values
            key = tables.QUERY_KEY_SINGULAR_VALUE.key[1:]
            yield rows(tables.QUERY_KEY_SINGULAR_VALUE, key, layer=layer.number, value=values)


@fills(tables.QUERY_KEY_ROTATION)
def rotations(model: ModelWeights) -> Iterator[pa.Table]:
    """One row per layer, head and eigenvector."""
    for layer in model.layers:
        rotations = layer.query_key_rotation if layer.compares_directions else ()
        for head, rotation in enumerate(rotations, start=1):
            of = {"layer": layer.number, "head": head, "phase": rotation.phases}
            yield rows(tables.QUERY_KEY_ROTATION, (tables.PLANE,), **of)


@fills(tables.QUERY_KEY_PHASE)
def phases(layer: Layer) -> Iterator[pa.Table]:
    """One row per exemplar, head and eigenvector of the rotation."""
    for row in _exemplars(layer):
        text = layer.batch.sequences[row]
        if length := wave_length(len(text)):
            inputs = layer.trace.attention_input[row, :length]
            for head, rotation in enumerate(layer.weights.query_key_rotation, start=1):
                yield rows(
                    tables.QUERY_KEY_PHASE,
                    (tables.PLANE,),
                    seq=text.index,
                    layer=layer.weights.number,
                    head=head,
                    length=length,
                    phase=rotation.phases,
                    amplitude=phase_amplitudes(inputs, rotation),
                )


def _exemplars(layer: Layer) -> tuple[int, ...]:
    """Return the rows of exemplars; none of a layer that compares no directions."""
    batch = layer.batch
    return batch.rows_of(batch.exemplars) if layer.weights.compares_directions else ()


@fills(tables.QUERY_KEY_WAVE)
def waves(layer: Layer) -> Iterator[pa.Table]:
    """One row per exemplar, head and direction."""
    ranks, shown, reach = tables.RANKS, tables.SHOWN_TOKENS, tables.FARTHEST
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
        yield rows(
            tables.QUERY_KEY_WAVE,
            (HEAD, tables.RANK),
            there=compares,
            seq=text.index,
            layer=layer.weights.number,
            value=values,
            query=queries,
            key=keys,
            correlation=correlations,
        )


@fills(tables.QUERY_KEY_ERROR)
def errors(layer: Layer) -> pa.Table:
    """One row per exemplar."""
    batch = layer.batch
    rows_of_exemplars = batch.rows_of(batch.exemplars)
    found = [
        relative_errors(layer.alone(row), batch.model.hidden_dtype).tolist()
        for row in rows_of_exemplars
    ]
    columns: Any = by_name(
        ERRORS, torch.tensor(found, dtype=torch.float64).reshape(-1, len(ERRORS))
    )
    seqs, number = batch.sequence_of_row[list(rows_of_exemplars)], layer.weights.number
    return rows(tables.QUERY_KEY_ERROR, seq=seqs, layer=number, **columns)


@fills(ROTARY_PLANE)
def planes(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, head and plane, after one for the coordinates without rotation."""
    rotary = layer.weights.rotary
    if not isinstance(rotary, Rotary):
        return
    frequencies = np.concatenate([[0.0], _array(rotary.frequencies.double())])
    for text, read in layer.batch.without_padding(layer.trace.attention_input):
        totals = plane_totals(read, layer.weights)
        sums = {name: _array(getattr(totals, name)) for name in (*COMPLEX, *REAL)}
        unturned = dict.fromkeys(sums, np.zeros((len(totals.score), 1)))
        unturned["score"] = _array(totals.unturned)[:, None]
        sums = {name: np.hstack([unturned[name], of_planes]) for name, of_planes in sums.items()}
        parts: Any = {name: sums[name] for name in REAL}
        parts |= {f"{name}_real": sums[name].real for name in COMPLEX}
        parts |= {f"{name}_imaginary": sums[name].imag for name in COMPLEX}
        yield rows(
            ROTARY_PLANE,
            ROTARY_PLANE.key[1:],
            seq=text.index,
            layer=layer.weights.number,
            frequency=frequencies,
            n_pairs=totals.n_pairs,
            **parts,
        )


@fills(OFFSET_TERM)
def buckets(layer: Layer) -> Iterator[pa.Table]:
    """One row per sequence, head and bucket of offsets.

    Buckets without a pair in a text have rows too: the scores that the mean query and the mean key
    give to them count.
    """
    terms = layer.weights.offset_terms
    if terms is None:
        return
    reach = max(terms.reach, tables.FARTHEST)
    offsets = torch.arange(-reach, reach + 1, device=terms.buckets.device)
    bucket, first, last = np.array(bucket_ends(terms.bucket_of(offsets), reach)).T
    for text, read in layer.batch.without_padding(layer.trace.attention_input):
        totals = offset_totals(read, layer.weights)
        sums: Any = {name: _array(getattr(totals, name))[:, bucket] for name in BUCKET_SUMS}
        yield rows(
            OFFSET_TERM,
            (HEAD,),
            seq=text.index,
            layer=layer.weights.number,
            bucket=bucket,
            first_offset=first,
            last_offset=last,
            n_pairs=totals.n_pairs,
            **sums,
        )


def _array(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
