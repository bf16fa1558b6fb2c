"""A model ready to be traced."""

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from analysis.models.adapter import Adapter
from analysis.models.capture import change_output
from analysis.models.gradients import (
    NO_TARGET,
    AttentionGradients,
    next_tokens,
    pooled_lengths,
    token_losses,
)
from analysis.models.trace import LayerWeights, Model, ModelWeights, Trace
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import Sequence

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Control = Literal["removed", "permuted"]
"""What is done to the position embeddings of a text: zeros instead, or another order."""


@dataclass(frozen=True)
class LoadedModel:
    """A model, its tokenizer, and where both came from."""

    name: str
    revision: str
    weights_sha256: str
    model: Model
    tokenizer: PreTrainedTokenizerBase
    adapter: Adapter
    layers: tuple[LayerWeights, ...]
    dtype: str
    language_model: Model | None = None
    """The model with the head that predicts tokens, around `model`; None if it has no such head."""

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
    def positions(self) -> int:
        return self.adapter.positions(self.model)

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
        inputs = {k: v.to(self.model.device) for k, v in self._inputs(sequences).items()}
        module = self.adapter.position_module(self.model)
        changed = change_output(module, change_positions) if change_positions else nullcontext()
        with changed:
            trace = self.adapter.trace(self.model, self.layers, inputs)
        return trace if self.dtype == "float32" else _in_float32(trace)

    def trace_controlled(self, sequence: Sequence, control: Control, *, seed: int) -> Trace:
        """A sequence by itself, its positions removed or brought into another order.

        The order depends on the seed and the sequence alone.
        """
        if control == "removed":
            return self.trace([sequence], torch.zeros_like)
        draw = generator(seed, purpose="positions", index=sequence.index)
        order = torch.from_numpy(draw.permutation(len(sequence))).to(self.model.device)
        return self.trace([sequence], lambda embedding: embedding[..., order, :])

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
        inputs = {k: v.to(self.model.device) for k, v in self._inputs(sequences).items()}
        is_token = inputs["attention_mask"].bool()
        has_loss = is_token.any(dim=1)
        loss = partial(pooled_lengths, is_token=is_token)
        if self.language_model is not None:
            targets = self._targets(sequences, inputs["input_ids"], is_token)
            has_loss = (targets != NO_TARGET).any(dim=1)
            logits = partial(self.adapter.logits, self.language_model)
            loss = partial(token_losses, targets=targets, logits=logits)
        if not has_loss.any():
            return None
        found = self.adapter.gradients(self.model, inputs, loss)
        widened = found if self.dtype == "float32" else tuple(each.float() for each in found)
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

    def _inputs(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        longest = max(map(len, sequences))
        padding: Any = self.tokenizer.pad_token_id
        ids = torch.full((len(sequences), longest), 0 if padding is None else padding)
        segments, mask = torch.zeros((2, len(sequences), longest), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.from_numpy(sequence.ids)
            segments[row, : len(sequence)] = torch.from_numpy(sequence.segments)
            mask[row, : len(sequence)] = 1
        return {"input_ids": ids, "token_type_ids": segments, "attention_mask": mask}


def _in_float32(trace: Trace) -> Trace:
    """The same pass with its tensors widened; the arithmetic before stays what it was."""

    def widened(part: Any) -> Any:
        values = {each.name: getattr(part, each.name) for each in fields(part)}
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
