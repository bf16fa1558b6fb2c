"""A model ready to be traced."""

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.adapter import Adapter
from analysis.models.gradients import (
    NO_TARGET,
    AttentionGradients,
    next_tokens,
    pooled_lengths,
    token_losses,
)
from analysis.models.layout import CLASS
from analysis.models.trace import LayerWeights, Model, ModelWeights, Trace
from analysis.scopes import GATE_RULES
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import Sequence
from precompute.corpora.token_types import REGISTER
from precompute.models.padding import check_known, padded, sent_to

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Control = Literal["removed", "permuted"]
"""What is done to the position embeddings of a text: zeros instead, or another order."""


@dataclass(frozen=True)
class LoadedModel:
    """A model, what it reads with, and where both came from.

    It reads texts with a tokenizer or images with `images`; what it does not read with is None.
    """

    name: str
    revision: str
    weights_sha256: str
    model: Model
    tokenizer: Any  # of transformers; None where the model reads images
    adapter: Adapter
    layers: tuple[LayerWeights, ...]
    dtype: str
    overruled_tokenizer: str = ""
    """The library's class that would read texts otherwise than tokenizer.json says."""
    language_model: Model | None = None
    """The model with the head that predicts tokens, around `model`; None if it has no such head."""
    classifier: Model | None = None
    """The model with the head that predicts classes, around `model`; or None."""
    images: ImageReader | None = None
    segments: str = "read"
    """The segment ids that the model gets: those that were `read`, or `zero` for every token."""
    gate_rule: str = GATE_RULES[0]
    """How its networks' products are shared out, where they have gates."""
    random_weights: int | None = None
    """The seed that the weights were drawn with; None where they are those in its folder."""

    @property
    def family(self) -> str:
        return self.model.config.model_type

    @property
    def device(self) -> str:
        return self.model.device.type

    @property
    def hidden_dtype(self) -> torch.dtype | None:
        """Number format for the hidden vectors of pairs; None: that of the trace."""
        return None if self.dtype == "float32" else DTYPES[self.dtype]

    @property
    def weights(self) -> ModelWeights:
        """What statistics without a corpus are made of, in the number format of the trace."""
        embedding = self.adapter.position_embedding(self.model)
        widened = embedding if embedding is None or self.dtype == "float32" else embedding.float()
        return ModelWeights(self.layers, widened)

    @property
    def has_gates(self) -> bool:
        """Whether its networks multiply two hidden layers."""
        return self.layers[0].feed_forward.gate_weight is not None

    @property
    def windows(self) -> tuple[int | None, ...]:
        """How many tokens away each layer looks at most; None: as far as there are any."""
        return tuple(layer.window for layer in self.layers)

    @property
    def positions(self) -> int:
        return self.adapter.positions(self.model)

    @property
    def positions_by(self) -> str:
        """How the model knows places: one of `analysis.needs.KNOWS_PLACES_BY`."""
        return self.layers[0].positions_by

    @property
    def segment_types(self) -> int:
        return getattr(self.model.config, "type_vocab_size", 0)

    def trace(
        self,
        sequences: SequenceOf[Sequence],
        change_positions: Callable[[Tensor], Tensor] | None = None,
    ) -> Trace:
        """One forward pass over padded sequences, every part of it in float32.

        Args:
            change_positions: what the model gets instead of its position embeddings, from them.
        """
        inputs = self.inputs(sequences)
        change = self.adapter.changed_positions
        with change(self.model, change_positions) if change_positions else nullcontext():
            trace = self.adapter.trace(self.model, self.layers, inputs)
        return trace if self.dtype == "float32" else _in_float32(trace)

    def trace_controlled(self, sequence: Sequence, control: Control, *, seed: int) -> Trace:
        """A sequence by itself, its positions removed or brought into another order.

        The order depends on the seed and the sequence alone. Registers have no position.
        """
        if control == "removed":
            return self.trace([sequence], torch.zeros_like)
        draw = generator(seed, purpose="positions", index=sequence.index)
        order = torch.arange(len(sequence))
        has_position = torch.from_numpy(sequence.token_types != REGISTER)
        places = order[has_position]
        order[has_position] = places[torch.from_numpy(draw.permutation(len(places)))]
        order = order.to(self.model.device)
        return self.trace([sequence], lambda embedding: embedding[..., order, :])

    @property
    def image_reader(self) -> ImageReader:
        """What reads images for a model that takes them.

        Raises:
            UnfitModel: it reads text.
        """
        if self.images is None:
            raise UnfitModel(f"Model {self.name!r} reads text and no images.")
        return self.images

    @property
    def relevance_start(self) -> str:
        """Where relevance starts: a key of `analysis.relevance_rules.STARTS`."""
        if self.images is None:
            return "last" if self.layers[0].is_causal else "cls"
        if CLASS not in self.images.layout.special:
            return "patches"
        averaged = type(self.classifier).__name__.endswith("WithTeacher")
        return "cls_and_distillation" if averaged else "cls"

    @property
    def objective(self) -> str:
        """The loss whose gradients are taken: one of `analysis.habits.OBJECTIVES`."""
        if self.language_model is None:
            return "pooled_length"
        return "next_token" if self.layers[0].is_causal else "masked_lm"

    def gradients(self, sequences: SequenceOf[Sequence]) -> AttentionGradients | None:
        """How the loss of each sequence changes with its attention weights; None if none has one.

        The loss is the mean cross-entropy at masked tokens, or at every token but the first where
        the model is causal; in a model without a head that predicts tokens it is the squared length
        of the mean of the last hidden states.
        """
        inputs = self.inputs(sequences)
        is_token = self._is_token(sequences)
        has_loss = is_token.any(dim=1)
        loss = partial(pooled_lengths, is_token=is_token)
        if self.language_model is not None:
            targets = self._targets(sequences, inputs["input_ids"], is_token)
            has_loss = (targets != NO_TARGET).any(dim=1)
            logits = partial(self.adapter.logits, self.language_model)
            loss = partial(token_losses, targets=targets, logits=logits)
        if not has_loss.any():
            return None
        slopes = self.adapter.gradients(self.model, inputs, loss)
        widened = slopes if self.dtype == "float32" else tuple(layer.float() for layer in slopes)
        return AttentionGradients(self.objective, widened, has_loss)

    def _targets(
        self, sequences: SequenceOf[Sequence], ids: Tensor, is_token: Tensor
    ) -> Int[Tensor, "batch token"]:
        """The token to predict at each place, `NO_TARGET` where none is asked for."""
        if self.objective == "next_token":
            return next_tokens(ids, is_token)
        targets = torch.full_like(ids, NO_TARGET)
        for row, sequence in enumerate(sequences):
            if sequence.targets is not None:
                targets[row, : len(sequence)] = torch.from_numpy(sequence.targets)
        return targets

    def segments_given(self, sequence: Sequence) -> UInt8[np.ndarray, " token"]:
        """The segment ids that the model gets; the sequence keeps those of its text."""
        return sequence.segments if self.segments == "read" else np.zeros_like(sequence.segments)

    def inputs(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        """What the model is called with, on its device."""
        given = self._texts(sequences) if self.images is None else self._pixels(sequences)
        return {name: sent_to(self.model.device, tensor) for name, tensor in given.items()}

    def _texts(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        check_known(sequences, self.model.config.vocab_size, name=self.name)
        padding: Any = (self.tokenizer and self.tokenizer.pad_token_id) or 0
        if padding >= self.model.config.vocab_size:
            padding = 0  # what is padded counts for nothing, and the model knows no such token
        segments = [self.segments_given(sequence) for sequence in sequences]
        return {
            "input_ids": padded([sequence.ids for sequence in sequences], padding),
            "token_type_ids": padded(segments, 0),
            "attention_mask": self._is_token(sequences).long(),
        }

    def _pixels(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        pixels = [self.image_reader.pixels(sequence.picture) for sequence in sequences]
        return {"pixel_values": torch.stack(pixels)}

    def _is_token(self, sequences: SequenceOf[Sequence]) -> Tensor:
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        is_token = torch.arange(int(lengths.max())) < lengths[:, None]
        return is_token.to(self.model.device)


def _in_float32(trace: Trace) -> Trace:
    """The same pass with its tensors widened; the arithmetic before stays what it was."""

    def widened(part: Any) -> Any:
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        return type(part)(
            **{
                name: value.float()
                if isinstance(value, Tensor) and value.is_floating_point()
                else tuple(map(widened, value))
                if isinstance(value, tuple)
                else value
                for name, value in values.items()
            }
        )

    return widened(trace)
