"""A traced batch of sequences, with cached intermediate results of several passes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int8, Int32
from torch import Tensor

from analysis.measures.mixing.vector_rollout import TokenVectors, vector_rollout
from analysis.measures.norms.head_token import value_norms
from analysis.measures.norms.norm_weighted_attention import norm_weighted_attention
from analysis.measures.pairs.token_relation import token_relations
from analysis.measures.positions.relative_position_profile import diagonal_sums
from analysis.measures.probing.word_attention import WordAttention
from analysis.models.gradients import AttentionGradients
from analysis.models.trace import LayerTrace, Trace
from analysis.scopes import BUDGET, GATE_RULES, LayerOrder
from analysis.statistics.norms.weighing import NORM, WEIGHT
from analysis.token_types import BOS, CLS, OTHER, REGISTER, SEP
from precompute.corpora.annotated.annotation import Annotation
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.sequence import Sequence
from precompute.jobs.bounds import evenly_spaced
from precompute.models.classification import Classification
from precompute.models.loaded_model import Control
from precompute.passes.relevance.relevance_maps import (
    WHOLE_LAYERS,
    RelevanceMaps,
    relevance_maps,
    start_weights,
)
from precompute.passes.seen import Seen, padded, reached, seen
from precompute.passes.shared_out import Layers, SharedOut
from precompute.passes.word_attention import attention_of_words

COMPARED = 16
"""Most sequences in which attribution rules are compared."""


@dataclass(frozen=True)
class Batch:
    """One traced batch of sequences and the seed of the run.

    `hidden_dtype` is the number format of the hidden vectors of pairs, that of the trace if None;
    `hidden_budget` the bytes they may take at a time. `exemplars` are the indices of the few
    sequences with stored maps and waves, `followed` of those whose tokens are followed through the
    layers as vectors. `controlled` traces one sequence again with its positions removed or
    permuted. `gradients` runs some of the sequences again and returns the gradients of their losses
    with respect to attention; it is None if none of them has a loss. `gate_rule` is the attribution
    rule of gated networks. `kept` are the sequences with stored relevance maps, `images` is the
    reader of images, and `classification` predicts classes; both are None if the model has none.
    """

    sequences: tuple[Sequence, ...]
    trace: Trace
    seed: int = 0
    hidden_dtype: torch.dtype | None = None
    hidden_budget: int = BUDGET
    exemplars: frozenset[int] = frozenset()
    followed: frozenset[int] = frozenset()
    controlled: Callable[[Sequence, Control], Trace] | None = None
    gradients: Callable[[tuple[Sequence, ...]], AttentionGradients | None] | None = None
    gate_rule: str = GATE_RULES[0]
    relevance_start: str = "cls"
    kept: frozenset[int] = frozenset()
    images: ImageReader | None = None
    classification: Classification | None = None

    @property
    def order(self) -> LayerOrder:
        """Return the layer order of the model, which defines its scopes."""
        return self.trace.layers[0].weights.order

    @cached_property
    def pairs(self) -> tuple[Seen, ...]:
        """Masks of the keys that each query of every sequence sees, by layer."""
        return tuple(seen(self.trace, len(sequence)) for sequence in self.sequences)

    @cached_property
    def reached(self) -> tuple[Seen, ...]:
        """Masks of the input tokens that can have reached each token of every sequence, by
        layer."""
        return tuple(reached(of_layers) for of_layers in self.pairs)

    @cached_property
    def is_pair(self) -> tuple[Bool[Tensor, "batch query key"], ...]:
        """`pairs` for the padded batch, by layer."""
        return padded(self.trace)

    @cached_property
    def exemplars_alone(self) -> tuple[tuple[Sequence, tuple[LayerTrace, ...]], ...]:
        """Return the exemplars of this batch, each with its layers, without padding."""
        return tuple(
            (sequence, self._alone(row))
            for row, sequence in enumerate(self.sequences)
            if sequence.index in self.exemplars
        )

    @cached_property
    def token_types(self) -> Int[Tensor, "batch key"]:
        """Index of each token's type in `TOKEN_TYPES`; padding counts as `other`."""
        padded = torch.full(self.trace.is_token.shape, OTHER)
        for row, sequence in enumerate(self.sequences):
            padded[row, : len(sequence)] = torch.from_numpy(sequence.token_types.astype(np.int64))
        return padded.to(self.trace.is_token.device)

    @cached_property
    def value_norms(self) -> tuple[Float[Tensor, "batch head key"], ...]:
        """‖f(x)‖ of every token and head, one tensor per layer."""
        layers = self.trace.layers
        return tuple(value_norms(layer.values, layer.weights.output_factor) for layer in layers)

    def every_pair(self, layer: int, weighing: str) -> Float[Tensor, "batch head query key"]:
        """Attention of all pairs in one layer, by weights or by norms."""
        attention = self.trace.layers[layer].attention
        if weighing == WEIGHT:
            return attention
        return norm_weighted_attention(attention, self.value_norms[layer])

    def every_head(self, row: int, weighing: str) -> Float[Tensor, "head query key"]:
        """Attention of all pairs in one sequence without padding, the heads of all layers in
        order."""
        real = slice(len(self.sequences[row]))
        layers = self.trace.layers
        attention = torch.cat([layer.attention[row, :, real, real] for layer in layers])
        if weighing == WEIGHT:
            return attention
        norms = torch.cat([of_layer[row, :, real] for of_layer in self.value_norms])
        return norm_weighted_attention(attention, norms)

    @cached_property
    def layer_mixing(self) -> tuple[Layers, ...]:
        """Mixing at every scope of every layer, one tuple of layers per sequence."""
        return tuple(self._shared_out.of(row) for row in range(len(self.sequences)))

    @cached_property
    def _shared_out(self) -> SharedOut:
        return SharedOut(self._alone, self.hidden_budget, self.hidden_dtype, self.gate_rule)

    @cached_property
    def bias_readings(self) -> tuple[tuple[int, dict[str, Layers]], ...]:
        """Row of every compared sequence, and its mixing under each reading of the bias."""
        return tuple((row, self._shared_out.by_reading(row)) for row in self._rows_of(COMPARED))

    @cached_property
    def gate_rules(self) -> tuple[tuple[int, tuple[LayerTrace, ...], tuple[Layers, ...]], ...]:
        """Row of every compared sequence, its layers, and its mixing under each gate rule."""
        rows = self._rows_of(COMPARED)
        return tuple((row, self._alone(row), self._shared_out.by_rule(row)) for row in rows)

    def _rows_of(self, n: int) -> tuple[int, ...]:
        few = evenly_spaced(self.followed, n)
        return tuple(row for row, sequence in enumerate(self.sequences) if sequence.index in few)

    def without_padding(
        self, padded: Float[Tensor, "batch token width"]
    ) -> list[tuple[Sequence, Float[Tensor, "token width"]]]:
        """Return the sequences of the batch, each with its own rows alone."""
        return [(text, padded[row, : len(text)]) for row, text in enumerate(self.sequences)]

    def _alone(self, row: int) -> tuple[LayerTrace, ...]:
        """Return the layers of one sequence without padding."""
        n_tokens = len(self.sequences[row])
        return tuple(layer.of_sequence(row, n_tokens) for layer in self.trace.layers)

    @cached_property
    def vectors(self) -> tuple[tuple[int, tuple[TokenVectors, ...]], ...]:
        """Row of every followed sequence, and its tokens' vectors layer by layer."""
        how: Any = {"budget": self.hidden_budget, "gate_rule": self.gate_rule}
        rows = self._rows_of(len(self.followed))
        return tuple((row, vector_rollout(self._alone(row), **how)) for row in rows)

    @cached_property
    def attention_sums(self) -> tuple[tuple[Float[Tensor, "head diagonal"], ...], ...]:
        """α summed along every diagonal, one tuple of layers per sequence."""
        return tuple(
            tuple(
                diagonal_sums(layer.attention[row, :, : len(sequence), : len(sequence)])
                for layer in self.trace.layers
            )
            for row, sequence in enumerate(self.sequences)
        )

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
    def start_weights(self) -> tuple[Float[np.ndarray, " token"] | None, ...]:
        """Starting weights of relevance for every sequence, 1 in sum; None without such a token."""
        types = (sequence.token_types for sequence in self.sequences)
        known = zip(types, self.is_content, strict=True)
        return tuple(start_weights(self.relevance_start, *tokens) for tokens in known)

    @cached_property
    def coverages(self) -> tuple[Float[np.ndarray, " patch"] | None, ...]:
        """Share of each patch inside its mask, for every sequence; None without a mask."""
        images = self.images
        pictures = (sequence.image for sequence in self.sequences)
        return tuple(images.coverage(image) if images and image else None for image in pictures)

    @cached_property
    def relevance_maps(self) -> tuple[RelevanceMaps | None, ...]:
        """Relevance maps of every sequence; None if relevance has no token to start from."""
        known = self.classification
        slopes = known.gradients(self.sequences) if known else None
        chosen = evenly_spaced(self.kept, WHOLE_LAYERS)
        mixing = [
            self._shared_out.of(row) if sequence.index in chosen else None
            for row, sequence in enumerate(self.sequences)
        ]
        return relevance_maps(self.trace, self.start_weights, mixing=mixing, gradients=slopes)

    @cached_property
    def annotated(self) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        """Index, annotation and word attention of every annotated sequence.

        The heads of all layers stand one after the other, those of the first layer first.
        """
        return self._annotated(WEIGHT)

    @cached_property
    def annotated_by_norm(self) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        """Index, annotation and word attention by norms of every annotated sequence."""
        return self._annotated(NORM)

    def _annotated(self, weighing: str) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        return tuple(
            (text.index, text.annotation, attention_of_words(self.every_head(row, weighing), text))
            for row, text in enumerate(self.sequences)
            if text.annotation is not None
        )

    @cached_property
    def real_tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Row in the batch and position of every real token, in reading order."""
        row, position = self.trace.is_token.nonzero(as_tuple=True)
        return row.cpu().numpy(), position.cpu().numpy()

    @cached_property
    def sequence_of_row(self) -> Int32[np.ndarray, " batch"]:
        """Index in the corpus of each row's sequence."""
        return np.array([sequence.index for sequence in self.sequences], dtype=np.int32)
