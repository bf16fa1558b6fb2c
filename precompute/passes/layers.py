"""A batch of sequences and one traced layer of it, with results that several passes share."""

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int8, Int32
from torch import Tensor

from analysis.measures.heads.head_effect import TypeMeans
from analysis.measures.mixing.layer_mixing import LayerMixing, layer_mixing
from analysis.measures.norms.vector_norms import norm_weighted_attention, value_norms
from analysis.measures.pairs.token_relation import token_relations
from analysis.measures.positions.relative_position_profile import diagonal_sums
from analysis.measures.probing.word_attention import WordAttention, word_attention
from analysis.models.gradients import AttentionGradients
from analysis.models.interventions.replacing import Answer, RecordedPass
from analysis.models.stream import OnLayer
from analysis.models.trace import LayerTrace, LayerWeights
from analysis.scopes import BUDGET, LayerOrder
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.token_types import BOS, CLS, OTHER, REGISTER, SEP
from precompute.corpora.sequence import Annotation, Sequence, evenly_spaced
from precompute.models.loaded_model import Classification, Control, LoadedModel

Shared = TypeVar("Shared")
Recorded = Callable[[Sequence, int], tuple[RecordedPass, Answer, Tensor | None]]
"""See `LoadedModel.recorded`."""


LayerMasks = tuple[Bool[np.ndarray, "query key"], ...]
"""One mask for each layer; layers with equal windows share theirs."""


def masks_of(layers: tuple[LayerWeights, ...], n_tokens: int) -> LayerMasks:
    """Masks of the keys that each query of a sequence sees, by layer."""
    by_window = {layer.window: layer for layer in layers}
    masks = {window: layer.pairs(n_tokens).numpy() for window, layer in by_window.items()}
    return tuple(masks[layer.window] for layer in layers)


def reachable(of_layers: LayerMasks) -> LayerMasks:
    """Masks of the input tokens that can have reached each token after each layer.

    A layer that adds none shares the mask of the layer before it.
    """

    def and_before(before: np.ndarray, now: np.ndarray) -> np.ndarray:
        both = now.astype(np.float32) @ before.astype(np.float32) > 0
        return before if np.array_equal(both, before) else both

    return tuple(accumulate(of_layers, and_before))


@dataclass(frozen=True)
class Batch:
    """A batch of sequences for a model, without its layers, and what a run does with it.

    `hidden_budget` is the bytes that the hidden vectors of pairs may take at a time. `exemplars`
    are the indices of the few sequences with stored maps and waves, `checked` of those that checks
    of robustness read, `run_again` of those that are run again with parts of the model replaced,
    `kept` of those with stored relevance maps. `controlled` runs one sequence again with its
    positions removed or permuted, and hands over each layer. `gradients` runs some of the sequences
    again and returns the gradients of their losses with respect to attention. `type_means` are
    means over texts of what heads mix.
    """

    sequences: tuple[Sequence, ...]
    model: LoadedModel
    is_token: Bool[Tensor, "batch token"]
    type_means: Callable[[], tuple[TypeMeans, ...]]
    gradients: Callable[[tuple[Sequence, ...]], AttentionGradients | None] | None
    classification: Classification | None
    controlled: Callable[[Sequence, Control, OnLayer], None] | None = None
    seed: int = 0
    hidden_budget: int = BUDGET
    exemplars: frozenset[int] = frozenset()
    checked: frozenset[int] = frozenset()
    run_again: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    _shared: dict[Any, Any] = field(default_factory=dict)

    def shared(self, kind: Callable[["Batch"], Shared]) -> Shared:
        """Return the batch's one object of a class that several passes read."""
        if kind not in self._shared:
            self._shared[kind] = kind(self)
        return self._shared[kind]

    def let_go(self) -> None:
        """Drop the shared objects, which refer to the batch and would outlive it."""
        self._shared.clear()

    @property
    def layers(self) -> tuple[LayerWeights, ...]:
        return self.model.layers

    @property
    def order(self) -> LayerOrder:
        """Return the layer order of the model, which defines its scopes."""
        return self.layers[0].order

    @property
    def n_heads(self) -> int:
        return len(self.layers[0].query_weight)

    @cached_property
    def pairs(self) -> tuple[LayerMasks, ...]:
        """Masks of the keys that each query of every sequence sees, by layer."""
        return tuple(masks_of(self.layers, len(sequence)) for sequence in self.sequences)

    @cached_property
    def reached(self) -> tuple[LayerMasks, ...]:
        """Masks of the input tokens that can have reached each token, by sequence and layer."""
        return tuple(reachable(of_layers) for of_layers in self.pairs)

    @cached_property
    def is_pair(self) -> tuple[Bool[Tensor, "batch query key"], ...]:
        """`pairs` for the padded batch, by layer; neither side of a pair is padding."""
        there = self.is_token[:, :, None] & self.is_token[:, None, :]
        masks = masks_of(self.layers, self.is_token.shape[1])
        by_id = {id(pairs): there & torch.from_numpy(pairs).to(there.device) for pairs in masks}
        return tuple(by_id[id(pairs)] for pairs in masks)

    @cached_property
    def word_embeddings(self) -> Float[Tensor, "batch token width"]:
        """Rows of the embedding table, read when first asked for."""
        return self.model.word_embeddings(self.sequences)

    @cached_property
    def token_types(self) -> Int[Tensor, "batch key"]:
        """Index of each token's type in `TOKEN_TYPES`; padding counts as `other`."""
        padded = torch.full(self.is_token.shape, OTHER)
        for row, sequence in enumerate(self.sequences):
            padded[row, : len(sequence)] = torch.from_numpy(sequence.token_types.astype(np.int64))
        return padded.to(self.is_token.device)

    @cached_property
    def relations(self) -> tuple[Int8[np.ndarray, "query key"], ...]:
        """Index in `RELATIONS` of every two tokens of every sequence."""
        return tuple(token_relations(s.ids, s.words, s.segments) for s in self.sequences)

    @cached_property
    def is_content(self) -> tuple[Bool[np.ndarray, " token"], ...]:
        """Masks of text tokens or patches of every sequence, without special tokens."""
        special = (BOS, CLS, SEP, REGISTER)
        return tuple(~np.isin(sequence.token_types, special) for sequence in self.sequences)

    @cached_property
    def sequence_of_row(self) -> Int32[np.ndarray, " batch"]:
        """Index in the corpus of each row's sequence."""
        return np.array([sequence.index for sequence in self.sequences], dtype=np.int32)

    def rows_of(self, chosen: frozenset[int], n: int | None = None) -> tuple[int, ...]:
        """Return the rows of the batch with chosen sequences, or with n of these, evenly spaced."""
        few = chosen if n is None else evenly_spaced(chosen, n)
        return tuple(row for row, sequence in enumerate(self.sequences) if sequence.index in few)

    def without_padding(
        self, padded: Float[Tensor, "batch token width"]
    ) -> list[tuple[Sequence, Float[Tensor, "token width"]]]:
        """Return the sequences of the batch, each with its own rows alone."""
        return [(text, padded[row, : len(text)]) for row, text in enumerate(self.sequences)]


@dataclass(frozen=True)
class Layer:
    """One traced layer of a batch, not to be kept; `index` counts from 0 those that attend."""

    batch: Batch
    index: int
    trace: LayerTrace
    _mixing: dict[int, LayerMixing] = field(default_factory=dict)

    @property
    def weights(self) -> LayerWeights:
        return self.trace.weights

    @property
    def attention(self) -> Float[Tensor, "batch head query key"]:
        return self.trace.attention

    @property
    def is_pair(self) -> Bool[Tensor, "batch query key"]:
        """Mask of the keys that each query sees; neither side of a pair is padding."""
        return self.batch.is_pair[self.index]

    @cached_property
    def value_norms(self) -> Float[Tensor, "batch head key"]:
        """‖f(x)‖ of every token and head; NaN where it depends on the query."""
        if self.weights.gate is not None:
            return torch.full_like(self.trace.values[..., 0], torch.nan)
        return value_norms(self.trace.values, self.weights.output_factor)

    @cached_property
    def pair_norms(self) -> Float[Tensor, "batch head #query key"]:
        """‖f(x)‖ of every head and pair; one row for all queries unless it depends on the query."""
        if (gate := self.trace.gate) is None:
            return self.value_norms[..., None, :]
        return value_norms(self.trace.values, self.weights.output_factor, gate)

    def weighed(self, weighing: str) -> Float[Tensor, "batch head query key"]:
        """Attention of all pairs, by weights or by norms."""
        if weighing == WEIGHT:
            return self.attention
        return norm_weighted_attention(self.attention, self.pair_norms)

    def weighed_alone(self, row: int, weighing: str) -> Float[Tensor, "head query key"]:
        """Attention of all pairs in one sequence without padding."""
        real = slice(len(self.batch.sequences[row]))
        attention = self.attention[row, :, real, real]
        if weighing == WEIGHT:
            return attention
        return norm_weighted_attention(attention, self.pair_norms[row, :, real, real])

    def alone(self, row: int) -> LayerTrace:
        """Return the trace of one sequence without padding."""
        return self.trace.of_sequence(row, len(self.batch.sequences[row]))

    def mixing_of(self, row: int) -> LayerMixing:
        """Mixing at every scope of one sequence, computed once."""
        if row not in self._mixing:
            budget, dtype = self.batch.hidden_budget, self.batch.model.hidden_dtype
            self._mixing[row] = layer_mixing(self.alone(row), budget=budget, dtype=dtype)
        return self._mixing[row]

    @property
    def mixing(self) -> tuple[LayerMixing, ...]:
        """Mixing at every scope, by sequence."""
        return tuple(self.mixing_of(row) for row in range(len(self.batch.sequences)))

    @cached_property
    def attention_sums(self) -> tuple[Float[Tensor, "head diagonal"], ...]:
        """α summed along every diagonal, by sequence."""
        return tuple(
            diagonal_sums(self.weighed_alone(row, WEIGHT))
            for row in range(len(self.batch.sequences))
        )

    @cached_property
    def annotated(self) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        """Index, annotation and word attention of every annotated sequence."""
        return self._annotated(WEIGHT)

    @cached_property
    def annotated_by_norm(self) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        """Index, annotation and word attention by norms of every annotated sequence."""
        return self._annotated(NORM)

    def _annotated(self, weighing: str) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        found = []
        for row, text in enumerate(self.batch.sequences):
            if text.annotation is not None:
                attention = self.weighed_alone(row, weighing)
                types, spans = (
                    torch.from_numpy(values).to(attention.device)
                    for values in (text.token_types, text.word_spans)
                )
                words = word_attention(attention, spans, types == CLS, types == SEP)
                found.append((text.index, text.annotation, words))
        return tuple(found)


def batch_of(model: LoadedModel, sequences: SequenceOf[Sequence], **run: Any) -> Batch:
    """Return a batch for a model, with what a run sets beyond it."""
    of_model: dict[str, Any] = {
        "is_token": model.is_token(sequences).to(model.measured_on),
        "type_means": partial(model.type_means, sequences),
        "gradients": model.gradients,
        "classification": model.classification,
    }
    return Batch(tuple(sequences), model, **of_model | run)


def run_layers(model: LoadedModel, batch: Batch, receive: Callable[[Layer], None]) -> None:
    """Run the model on a batch and hand over its layers, first to last."""
    model.stream(batch.sequences, lambda index, trace: receive(Layer(batch, index, trace)))
