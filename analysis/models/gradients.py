"""Gradients of a loss with respect to attention weights, through all later layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from analysis.models.attention import ModelParts, attention_observed
from analysis.models.capture import change_output
from analysis.models.trace import Model

NO_TARGET = -1
"""Target id of tokens without a target."""
Loss = Callable[[Tensor], Tensor]
"""Function from the last hidden states of a batch to the sum of its sequences' losses."""


@dataclass(frozen=True)
class AttentionGradients:
    """∂L/∂α of every layer, each α a free variable; for the sequences that have a loss L."""

    objective: str
    layers: tuple[Float[Tensor, "batch head query key"], ...]
    has_loss: Bool[Tensor, " batch"]


def attention_gradients(
    model: Model, parts: ModelParts, inputs: Mapping[str, Any], loss: Loss
) -> tuple[Tensor, ...]:
    """Run one forward and one backward pass, without gradients of the model's weights."""
    attention: list[Tensor] = []
    with (
        torch.enable_grad(),
        change_output(parts.entrance, lambda out: out.detach().requires_grad_()),
        attention_observed(model, parts.layers, lambda *of_layer: attention.append(of_layer[1])),
    ):
        output = model(**inputs, return_dict=True)
        return torch.autograd.grad(loss(output.last_hidden_state), attention)


def token_losses(
    hidden: Float[Tensor, "batch token width"],
    targets: Int[Tensor, "batch token"],
    logits: Callable[[Tensor], Tensor],
) -> Tensor:
    """Cross-entropy in nats, mean over each sequence's tokens with a target, summed over sequences.

    The head of the language model is applied to these tokens only.
    """
    asked = targets != NO_TARGET
    row, _ = asked.nonzero(as_tuple=True)
    losses = nn.functional.cross_entropy(logits(hidden[asked]), targets[asked], reduction="none")
    return (losses / asked.sum(dim=1)[row]).sum()


def next_tokens(
    ids: Int[Tensor, "batch token"], is_token: Bool[Tensor, "batch token"]
) -> Int[Tensor, "batch token"]:
    """The next token of each token; `NO_TARGET` for the last one and for padding."""
    shifted = torch.full_like(ids, NO_TARGET)
    shifted[:, :-1] = ids[:, 1:].where(is_token[:, 1:], NO_TARGET)
    return shifted


def pooled_lengths(
    hidden: Float[Tensor, "batch token width"], is_token: Bool[Tensor, "batch token"]
) -> Tensor:
    """Squared norm of each sequence's mean hidden state, summed over sequences."""
    total = (hidden * is_token[..., None]).sum(dim=1)
    return (total / is_token.sum(dim=1, keepdim=True)).square().sum()
