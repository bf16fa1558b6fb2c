"""Attention, states, queries and keys, their scores and position embeddings along positions."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.measures.positions import position_spectrum as spectra
from analysis.measures.positions import query_key_wave as query_key
from analysis.measures.positions.query_key_error import ERRORS, relative_errors
from analysis.measures.positions.query_key_form import NEGLIGIBLE
from analysis.measures.positions.relative_position_profile import (
    patch_offsets,
    position_dependence,
    window,
)
from analysis.measures.positions.score_sums import bucket_ends, offset_totals, plane_totals
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerTrace, LayerWeights, ModelWeights
from analysis.statistics.base.columns import HEAD, SEQ
from analysis.statistics.positions import attention as attention_tables
from analysis.statistics.positions import scores as tables
from analysis.statistics.positions.sums import BUCKET_SUMS, COMPLEX, OFFSET_TERM, REAL, ROTARY_PLANE
from precompute.passes.filling import array_of, by_name, fills, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer

_REACH = tables.FARTHEST
_OFFSETS = np.arange(-_REACH, _REACH + 1)


@fills(tables.EMBEDDING_SPECTRUM)
def embedding_spectra(model: ModelWeights) -> pa.Table:
    """One row per control and frequency."""
    table = tables.EMBEDDING_SPECTRUM
    if model.position_embedding is None:
        return table.shard_schema.empty_table()
    spreads: Any = by_name(spectra.SPREAD, spectra.embedding_spectrum(model.position_embedding))
    spreads["frequency"] = spectra.frequencies(len(model.position_embedding))
    return rows(table, table.key[:1], **spreads)


@fills(tables.POSITION_VARIANCE)
def embedding_variance(model: ModelWeights) -> pa.Table:
    """One row per component."""
    table = tables.POSITION_VARIANCE
    if model.position_embedding is None:
        return table.shard_schema.empty_table()
    ratio = spectra.position_variance(model.position_embedding).cpu().numpy()
    return rows(table, table.key, ratio=ratio, cumulative=ratio.cumsum())


@fills(attention_tables.EXEMPLAR_ATTENTION)
def first_attention(layer: Layer) -> Iterator[pa.Table]:
    """One row per exemplar and head."""
    for row in layer.batch.rows_of(layer.batch.exemplars):
        n = min(attention_tables.SHOWN, len(layer.batch.sequences[row]))
        yield rows(
            attention_tables.EXEMPLAR_ATTENTION,
            (HEAD,),
            seq=layer.batch.sequences[row].index,
            layer=layer.weights.number,
            n=n,
            attention=layer.attention[row, :, :n, :n].flatten(1),
        )


@fills(attention_tables.RELATIVE_POSITION_PROFILE)
def profiles(layer: Layer) -> pa.Table:
    """One row per sequence and head."""
    batch, is_causal = layer.batch, layer.weights.is_causal
    mask: Any = {"is_causal": is_causal, "window": layer.weights.window}
    of_offsets, dependences = [], []
    for row, sums in enumerate(layer.attention_sums):
        of_offsets.append(window(sums, attention_tables.REACH, is_causal=is_causal))
        dependences.append(position_dependence(layer.alone(row).attention[0], sums, **mask))
    return rows_of_layer(
        layer,
        attention_tables.RELATIVE_POSITION_PROFILE,
        (SEQ, HEAD),
        n_tokens=np.array([len(sequence) for sequence in batch.sequences])[:, None],
        profile=np.stack(of_offsets),
        dependence=np.stack(dependences),
    )


@fills(attention_tables.PATCH_OFFSET)
def attention_of_patches(layer: Layer) -> pa.Table:
    """One row per head and offset, summed over images; special tokens take no part."""
    batch, table = layer.batch, attention_tables.PATCH_OFFSET
    if batch.model.images is None:
        return table.shard_schema.empty_table()
    grid = batch.model.images.layout
    by_image = []
    for row, is_patch in enumerate(batch.is_content):
        (patches,) = is_patch.nonzero()
        attention = layer.attention[row][:, *np.ix_(patches, patches)]
        size = {"n_rows": grid.rows, "n_columns": grid.columns}
        by_image.append(patch_offsets(attention, **size, reach=attention_tables.PATCH_REACH))
    attention, per_pair = (
        np.sum([getattr(offsets, name) for offsets in by_image], axis=0)
        for name in ("attention", "per_pair")
    )
    return rows_of_layer(
        layer,
        table,
        (HEAD,),
        row_offset=by_image[0].rows[:, None],
        column_offset=by_image[0].columns,
        n_images=len(by_image),
        attention=attention,
        attention_per_pair=per_pair,
    )


@fills(tables.QUERY_KEY_CORRELATION)
def correlations(layer: Layer) -> pa.Table:
    """One row per head and offset within the layer's window that occurs in the batch."""
    quantities = ("value", "attention", "value_centred", "value_per_pair", "attention_per_pair")
    n_sequences = np.zeros(len(_OFFSETS), dtype=np.int64)
    sums = np.zeros((len(quantities), layer.batch.n_heads, len(_OFFSETS)))
    for row, text in enumerate(layer.batch.sequences):
        value, centred = _of_scores(layer.alone(row).attention_input[0], layer.weights)
        attention = window(layer.attention_sums[row], _REACH, is_causal=False)
        n_pairs = np.maximum(len(text) - np.abs(_OFFSETS), 0)
        of_text = np.where(n_pairs > 0, np.stack([value, attention, centred]), 0)
        sums += np.concatenate([of_text, of_text[:2] / np.maximum(n_pairs, 1)])
        n_sequences += n_pairs > 0
    return rows_of_layer(
        layer,
        tables.QUERY_KEY_CORRELATION,
        (HEAD,),
        there=_compared(layer.weights) & (n_sequences > 0),
        offset=_OFFSETS,
        n_sequences=n_sequences,
        **dict(zip(quantities, sums, strict=True)),
    )


def _compared(weights: LayerWeights) -> np.ndarray:
    """Return the mask of the offsets that queries and keys compare.

    A causal layer has none after the query, a windowed layer none beyond the window, and a layer
    with rows and columns in place of offsets none at all.
    """
    if weights.positions_by == "patches":
        return np.zeros(len(_OFFSETS), dtype=bool)
    near = weights.window is None or np.abs(_OFFSETS) <= weights.window
    return near & ((_OFFSETS <= 0) | (not weights.is_causal))


def _of_scores(read: Tensor, weights: LayerWeights) -> list[np.ndarray]:
    """Return sums along diagonals of scores, and of scores less the mean of their row."""
    if weights.offset_terms is not None:
        return [
            window(sums, _REACH, is_causal=False) for sums in query_key.written_out(read, weights)
        ]
    sides = query_key.scored_waves(read, weights)
    mask = {"is_causal": weights.is_causal, "window": weights.window}
    scores = query_key.weighted_covariance(*sides, reach=_REACH)
    centred = query_key.centred_covariance(*sides, reach=_REACH, **mask)
    return [sums.double().cpu().numpy() for sums in (scores, centred)]


class _Place(NamedTuple):
    """Key of a sum. Layers count from 1; that of the word embeddings is 0."""

    control: str
    source: str
    layer: int
    length: int


@fills(tables.STATE_SPECTRUM)
class StateSpectra:
    """Rows of each control, source, layer, length and frequency that the batch has.

    Every fourth sequence is run twice more, alone, once all layers are there: once with zeros for
    position embeddings, once with its own embeddings in another order. Unchanged, it is added up
    once more apart from the others, as the baseline of the two. A batch that cannot be run again
    has none of the three, and a model whose queries and keys are no linear maps of its states has
    no rows.

    Kept between layers are four sums per control, source, length and frequency of each layer: 100
    KB a layer for a text of 2,048 tokens.
    """

    def __init__(self, batch: Batch):
        self._batch = batch
        self._sums: dict[_Place, np.ndarray] = defaultdict(lambda: np.zeros(()))
        self._n_sequences: dict[_Place, int] = defaultdict(int)
        texts = enumerate(batch.sequences)
        lengths = [(row, text, spectra.wave_length(len(text))) for row, text in texts]
        has_waves = all(layer.compares_directions for layer in batch.layers)
        self._measured = [measured for measured in lengths if has_waves and measured[2]]

    def add(self, layer: Layer) -> None:
        for row, text, length in self._measured:
            inputs = layer.trace.attention_input[row, :length]
            controls = ("kept", "compared") if self._is_repeated(text.index) else ("kept",)
            self._add_states(controls, inputs, layer.weights)

    def _is_repeated(self, index: int) -> bool:
        return self._batch.controlled is not None and index % tables.CONTROLLED == 0

    def _add_states(self, controls: tuple[str, ...], inputs: Tensor, weights: LayerWeights) -> None:
        for source, amplitudes in spectra.state_spreads(inputs, weights.query_key).items():
            for control in controls:
                self._add(_Place(control, source, weights.number, len(inputs)), amplitudes)

    def _add_controlled(self, control: str, length: int, index: int, layer: LayerTrace) -> None:
        inputs = layer.attention_input[0, :length]
        self._add_states((control,), inputs, layer.weights)

    def _add(self, place: _Place, amplitudes: Tensor) -> None:
        self._sums[place] = self._sums[place] + amplitudes.double().cpu().numpy()
        self._n_sequences[place] += 1

    def rows(self) -> pa.Table:
        for row, text, length in self._measured:
            words = spectra.amplitude_spectrum(self._batch.word_embeddings[row, :length])
            self._add(_Place("kept", "word_embedding", 0, length), spectra.spread(words))
            if self._batch.controlled is not None and self._is_repeated(text.index):
                for control in ("removed", "permuted"):
                    receive = partial(self._add_controlled, control, length)
                    self._batch.controlled(text, control, receive)
        table = tables.STATE_SPECTRUM
        return pa.concat_tables([table.schema.empty_table(), *map(self._rows, self._sums)])

    def _rows(self, place: _Place) -> pa.Table:
        return rows(
            tables.STATE_SPECTRUM,
            control=tables.CONTROLS.index(place.control),
            source=tables.SOURCES.index(place.source),
            layer=place.layer or np.nan,
            length=place.length,
            frequency=spectra.frequencies(place.length),
            n_sequences=self._n_sequences[place],
            **dict(zip(spectra.SPREAD, self._sums[place].T, strict=True)),
        )


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
        if length := spectra.wave_length(len(text)):
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
                    amplitude=query_key.phase_amplitudes(inputs, rotation),
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
        sides = query_key.query_key_waves(layer.alone(row).attention_input[0], factors)
        queries, keys = (side[..., :ranks] for side in sides)
        middle = len(text) - 1
        first, last = max(middle - reach, 0), 0 if layer.weights.is_causal else reach
        correlations = query_key.cross_correlation(queries, keys)[:, first : middle + last + 1]
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
    frequencies = np.concatenate([[0.0], array_of(rotary.frequencies.double())])
    for text, read in layer.batch.without_padding(layer.trace.attention_input):
        totals = plane_totals(read, layer.weights)
        sums = {name: array_of(getattr(totals, name)) for name in (*COMPLEX, *REAL)}
        unturned = dict.fromkeys(sums, np.zeros((len(totals.score), 1)))
        unturned["score"] = array_of(totals.unturned)[:, None]
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
        sums: Any = {name: array_of(getattr(totals, name))[:, bucket] for name in BUCKET_SUMS}
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
