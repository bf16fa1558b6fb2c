"""Attention of single heads, their likeness, and the effect of heads and of what tokens send.

For effects a text is run again in many variants, each with something else replaced.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.effects import CHANGES, FILLINGS, MEAN, OF_PARTS, PARTS
from analysis.habits import OBJECTIVES, QUANTITIES
from analysis.head_slices import head_slices
from analysis.measures.heads.contribution import contributions
from analysis.measures.heads.head_distances import head_distances
from analysis.measures.heads.head_effect import prediction_changes, replaced_heads, state_changes
from analysis.measures.heads.head_pattern import gradient_importance, head_pattern
from analysis.measures.norms.vector_norms import norm_weighted_attention
from analysis.models.attended import Attended
from analysis.models.gradients import AttentionGradients
from analysis.models.interventions.replacing import Answer
from analysis.statistics.base.columns import HEAD, SEQ, TOKEN_TYPE
from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from analysis.statistics.heads.single_heads import (
    SEQUENCE_CONTRIBUTION,
    SEQUENCE_GRADIENT_IMPORTANCE,
    SEQUENCE_HEAD_EFFECT,
    SEQUENCE_HEAD_PATTERN,
)
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, OTHER, SEP, TOKEN_TYPES
from precompute.corpora.sequence import evenly_spaced
from precompute.passes.filling import FromBatch, by_name, fills, parts_of_shard, rows, rows_of_layer
from precompute.passes.layers import Batch, Layer, Recorded

COMPARED = 256 * 2**20
"""Bytes that the compared rows of one sequence may take, over all heads and layers."""
TOKENS, OF_VARIANTS = 512, 2048
"""Tokens of a backward pass, padding included; and of all variants of a text at a time."""


@fills(SEQUENCE_HEAD_PATTERN)
def rows_of_patterns(layer: Layer) -> Iterator[pa.Table]:
    """Return the attention of each head by kind of token, and its entropy, by both weighings."""
    batch, types = layer.batch, layer.batch.token_types
    kinds: dict[str, Any] = {
        "is_cls": types == CLS,
        "is_sep": types == SEP,
        "is_comma_period": types == COMMA_PERIOD,
        "is_first": (types == FIRST) | (types == BOS),
    }
    patterns: dict[str, list[torch.Tensor]] = {weighing: [] for weighing in WEIGHINGS}
    for heads in head_slices(layer.attention.shape):
        weights = layer.attention[:, heads]
        has_sink = layer.weights.sink_logit is not None
        patterns[WEIGHT].append(head_pattern(weights, layer.is_pair, has_sink=has_sink, **kinds))
        norms = norm_weighted_attention(weights, layer.pair_norms[:, heads])
        patterns[NORM].append(head_pattern(norms, layer.is_pair, **kinds))
    for weighing, of_slices in patterns.items():
        yield rows_of_layer(
            layer,
            SEQUENCE_HEAD_PATTERN,
            (SEQ, HEAD),
            weighing=WEIGHINGS.index(weighing),
            n_tokens=batch.is_token.sum(dim=1)[:, None],
            **by_name(QUANTITIES, torch.cat(of_slices, dim=1)),
        )


@fills(HEAD_DISTANCE)
class HeadDistances:
    """Distances between the attention rows of any two heads, added up over sequences.

    Keeps rows of all heads and layers until the end, of the `compared_queries` of each sequence.
    """

    def __init__(self, batch: Batch):
        self._batch = batch
        self._n_heads = len(batch.layers) * batch.n_heads
        kind = torch.promote_types(batch.layers[0].query_weight.dtype, torch.float32)
        lengths = list(map(len, batch.sequences))
        self._queries = [compared_queries(length, self._n_heads) for length in lengths]
        has_gates = any(layer.gate is not None for layer in batch.layers)
        self._rows, self._norms = list[torch.Tensor](), list[torch.Tensor]()
        for queries, length in zip(self._queries, lengths, strict=True):
            n_norms = len(queries) if has_gates else 1
            self._rows.append(torch.empty(self._n_heads, len(queries), length, dtype=kind))
            self._norms.append(torch.empty(self._n_heads, n_norms, length, dtype=kind))

    def add(self, layer: Layer) -> None:
        first = layer.index * self._batch.n_heads
        here = slice(first, first + self._batch.n_heads)
        for row, queries in enumerate(self._queries):
            real = slice(self._norms[row].shape[-1])
            self._rows[row][here] = layer.attention[row, :, real, real][:, queries].cpu()
            norms = layer.pair_norms[row, :, :, real]
            self._norms[row][here] = (norms if norms.shape[1] == 1 else norms[:, queries]).cpu()

    def rows(self) -> pa.Table:
        has_sinks = any(layer.sink_logit is not None for layer in self._batch.layers)
        by_weight = self._divergence(to_no_token=has_sinks)
        for weights, norms in zip(self._rows, self._norms, strict=True):
            for head in range(self._n_heads):
                weights[head] = norm_weighted_attention(weights[head], norms[head])
        both = {WEIGHT: by_weight, NORM: self._divergence()}
        return pa.concat_tables(self._table(weighing, both[weighing]) for weighing in WEIGHINGS)

    def _divergence(self, *, to_no_token: bool = False) -> np.ndarray:
        """Divergence of any two heads, summed over the compared rows of all sequences.

        With `to_no_token` the share that goes to no token is one more outcome of a row.
        """
        total = np.zeros((self._n_heads, self._n_heads))
        for row, (queries, weights) in enumerate(zip(self._queries, self._rows, strict=True)):
            apart = {id(pairs): pairs for pairs in self._batch.pairs[row]}
            seen = np.any([pairs[queries] for pairs in apart.values()], axis=0)
            if to_no_token:
                lost = (1 - weights.sum(dim=-1, keepdim=True)).clamp(min=0)
                weights = torch.cat([weights, lost], dim=-1)
                seen = np.pad(seen, ((0, 0), (0, 1)), constant_values=True)
            total += head_distances(weights, torch.from_numpy(seen))
        return total

    def _table(self, weighing: str, divergence: np.ndarray) -> pa.Table:
        place = np.arange(self._n_heads)
        layer = np.array([of.number for of in self._batch.layers])[place // self._batch.n_heads]
        head = place % self._batch.n_heads + 1
        return rows(
            HEAD_DISTANCE,
            there=np.triu(np.ones_like(divergence, dtype=bool)),
            weighing=WEIGHINGS.index(weighing),
            layer_a=layer[:, None],
            head_a=head[:, None],
            layer_b=layer,
            head_b=head,
            divergence=divergence,
            n_rows=sum(map(len, self._queries)),
        )


def compared_queries(n_tokens: int, n_heads: int) -> list[int]:
    """Return the queries whose rows are compared: all, or as many as fit, evenly spaced."""
    fit = max(1, COMPARED // (n_heads * n_tokens * torch.float32.itemsize))
    return sorted(evenly_spaced(range(n_tokens), fit))


@fills(SEQUENCE_GRADIENT_IMPORTANCE)
class GradientImportance(FromBatch):
    """Gradient importance of heads by type of attended token, from a run of its own at the end.

    Layers as they are traced are not read, and nothing is kept of them. A backward pass holds the
    attention of all layers and its gradient: 8 bytes for each layer, head, query and key of at most
    `TOKENS` tokens, or of one longer sequence (9 GB for 2,048 tokens, 30 layers and 9 heads).
    """

    def rows(self) -> pa.Table:
        """Return the rows of every sequence with a loss; none if the batch cannot be run again."""
        tables = [SEQUENCE_GRADIENT_IMPORTANCE.schema.empty_table()]
        if self.batch.gradients is None:
            return tables[0]
        longest = max(map(len, self.batch.sequences))
        size = max(1, TOKENS // longest)
        for first in range(0, len(self.batch.sequences), size):
            few = slice(first, first + size)
            slopes = self.batch.gradients(self.batch.sequences[few])
            if slopes is not None:
                tables += _importance_rows(self.batch, few, slopes)
        return pa.concat_tables(tables)


def _importance_rows(batch: Batch, few: slice, slopes: AttentionGradients) -> Iterator[pa.Table]:
    longest = slopes.layers[0].shape[-1]
    types = torch.arange(len(TOKEN_TYPES), device=batch.token_types.device)
    is_type = batch.token_types[few, :longest, None] == types
    is_type &= batch.is_token[few, :longest, None]
    there = (is_type.any(dim=1) & slopes.has_loss[:, None]).cpu().numpy()
    for index, gradients in enumerate(slopes.layers):
        is_pair = batch.is_pair[index][few, :longest, :longest]
        yield rows(
            SEQUENCE_GRADIENT_IMPORTANCE,
            (SEQ, HEAD, TOKEN_TYPE),
            there=there[:, None],
            stands_for={"seq": batch.sequence_of_row[few]},
            layer=batch.layers[index].number,
            objective=OBJECTIVES.index(slopes.objective),
            importance=gradient_importance(gradients, is_pair, is_type),
        )


ASKED = 16
"""Tokens of a text of which a language model's predictions are compared."""


class Part(NamedTuple):
    """Part of a model that is replaced: a head; without a head all heads of the layer; or, with a
    token type, f(x) of its tokens, without a layer in all layers."""

    layer: int | None
    head: int | None = None
    token_type: int | None = None


class TextAgain:
    """One text, run again with parts of the model replaced."""

    def __init__(self, batch: Batch, row: int, recorded: Recorded):
        self._layers, self.sequence = batch.layers, batch.sequences[row]
        self._recorded, self.before, self._targets = recorded(self.sequence, ASKED)
        self._types = torch.from_numpy(self.sequence.token_types).long()
        self._means = [means.of(self._types) for means in batch.type_means()]

    @cached_property
    def parts(self) -> list[Part]:
        """Everything that is replaced alone."""
        types = [kind for kind in self._types.unique().tolist() if kind != OTHER]
        n_heads = enumerate(len(layer.query_weight) for layer in self._layers)
        layers = range(len(self._layers))
        parts = [Part(layer, head) for layer, n in n_heads for head in range(n)]
        parts += map(Part, layers)
        parts += (Part(layer, None, kind) for layer in (None, *layers) for kind in types)
        return parts

    @cached_property
    def alone(self) -> dict[str, dict[Part, list[float]]]:
        """Changes by each part alone, in the order of `CHANGES`, by filling."""
        return {filling: dict(self._changes(filling)) for filling in FILLINGS}

    def _changes(self, filling: str) -> Iterator[tuple[Part, list[float]]]:
        for parts, answer in self.of([(part,) for part in self.parts], filling):
            replaced = [part for (part,) in parts]
            changes = [*state_changes(self.before.hidden[0], answer.hidden)]
            if self.before.logits is None or answer.logits is None:
                changes += [torch.full_like(changes[0], torch.nan)] * 2
            else:
                before, after = self.before.logits.flatten(0, -2), answer.logits
                after = after.unflatten(0, (len(parts), -1)).flatten(1, -2)
                changes += prediction_changes(before, after, self._targets)
            measured = torch.stack(changes, dim=1).tolist()
            yield from zip(replaced, measured, strict=True)

    def of(
        self, variants: list[tuple[Part, ...]], filling: str
    ) -> Iterator[tuple[list[tuple[Part, ...]], Answer]]:
        """Yield a few variants at a time, those that differ from the same layer on, and the answer;
        a variant is the parts that are replaced in it."""
        most = max(1, OF_VARIANTS // len(self.sequence))
        for first, group in groupby(sorted(variants, key=_first), _first):
            alike = list(group)
            for start in range(0, len(alike), most):
                few = alike[start : start + most]
                yield few, self._answer(first, few, filling)

    def _answer(self, first: int, variants: list[tuple[Part, ...]], filling: str) -> Answer:
        def change(index: int, attended: Attended, read: Tensor, mixed: Tensor) -> Tensor:
            heads = torch.zeros(attended.weights.shape[:2], dtype=torch.bool)
            keys = torch.zeros(len(variants), len(self._types), dtype=torch.bool)
            for variant, parts in enumerate(variants):
                for _, head, kind in (part for part in parts if part.layer in (None, index)):
                    if kind is None:
                        heads[variant, slice(None) if head is None else head] = True
                    else:
                        keys[variant] |= self._types == kind
            if not heads.any() and not keys.any():
                return mixed
            instead = self._means[index] if filling == MEAN else self._means[index].zero()
            masks = {"heads": heads.to(mixed.device), "keys": keys.to(mixed.device)}
            return replaced_heads(self._layers[index], attended, read, mixed, instead, **masks)

        return self._recorded.again(first, len(variants), change)


def _first(parts: tuple[Part, ...]) -> int:
    """Return the first layer with anything replaced."""
    return min(part.layer or 0 for part in parts)


def texts_again(batch: Batch) -> list[TextAgain]:
    """Return the texts of a batch that are run again."""
    return [TextAgain(batch, row, batch.model.recorded) for row in batch.rows_of(batch.run_again)]


@fills(SEQUENCE_HEAD_EFFECT)
class HeadEffects(FromBatch):
    """One row per text that is run again, filling and part."""

    def rows(self) -> pa.Table:
        texts = self.batch.shared(texts_again)
        parts = (self._rows(text, filling) for text in texts for filling in FILLINGS)
        return parts_of_shard(SEQUENCE_HEAD_EFFECT, parts)

    def _rows(self, text: TextAgain, filling: str) -> pa.Table:
        changes = text.alone[filling]
        numbers = [layer.number for layer in self.batch.layers]
        layer = [np.nan if part.layer is None else numbers[part.layer] for part in changes]
        _, head, kind = np.array([*changes], dtype=float).T  # NaN for None
        return rows(
            SEQUENCE_HEAD_EFFECT,
            seq=text.sequence.index,
            filling=FILLINGS.index(filling),
            layer=np.array(layer),
            head=head + 1,
            token_type=kind,
            **dict(zip(CHANGES, np.array([*changes.values()]).T, strict=True)),
        )


@fills(SEQUENCE_CONTRIBUTION)
def rows_of_contributions(layer: Layer) -> Iterator[pa.Table]:
    """Return one row per sequence and part of the layer's update."""
    n_heads = layer.batch.n_heads
    for row, sequence in enumerate(layer.batch.sequences):
        types = torch.from_numpy(sequence.token_types)
        kinds = types.unique()
        measured = contributions(layer.alone(row), types == kinds[:, None])
        part = np.array([0] * n_heads + [1] * len(kinds) + [2, 3, 4])
        head, token_type = np.full((2, len(part)), np.nan)
        head[part == PARTS.index("head")] = np.arange(1, n_heads + 1)
        token_type[part == PARTS.index("token_type")] = kinds
        yield rows_of_layer(
            layer,
            SEQUENCE_CONTRIBUTION,
            (),
            seq=sequence.index,
            part=part,
            head=head,
            token_type=token_type,
            **by_name(OF_PARTS, measured.double().mean(dim=-1)),
        )
