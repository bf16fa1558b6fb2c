"""Gradients of a loss with respect to attention weights, through all later layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from analysis.models.attention import LayerParts, attention_observed
from analysis.models.capture import change_first_input
from analysis.models.stream import size_of
from analysis.models.trace import Model

NO_TARGET = -1
"""Target id of tokens without a target."""
Loss = Callable[[Any], Tensor]
"""Function from what a model returns for a batch to the sum of its sequences' losses."""


@dataclass(frozen=True)
class AttentionGradients:
    """∂L/∂α of every layer, each α a free variable; for the sequences that have a loss L."""

    objective: str
    layers: tuple[Float[Tensor, "batch head query key"], ...]
    has_loss: Bool[Tensor, " batch"]


def attention_gradients(
    model: Model, parts: Sequence[LayerParts], inputs: Mapping[str, Any], loss: Loss
) -> tuple[Tensor, ...]:
    """Run one forward and one backward pass, without gradients of the model's weights.

    Args:
        model: the one that is run, with or without a head around its layers.
        loss: the sum of the sequences' losses, from what the model returns.
    """
    attention: list[Tensor] = []
    with (
        torch.enable_grad(),
        change_first_input(parts[0].layer, lambda given: given.detach().requires_grad_()),
        attention_observed(model, size_of(inputs), lambda seen: attention.append(seen.weights)),
    ):
        return torch.autograd.grad(loss(model(**inputs, return_dict=True)), attention)


def token_losses(
    logits: Float[Tensor, "batch token vocabulary"], targets: Int[Tensor, "batch token"]
) -> Tensor:
    """Cross-entropy in nats, mean over each sequence's tokens with a target, summed over
    sequences."""
    asked = targets != NO_TARGET
    row, _ = asked.nonzero(as_tuple=True)
    losses = nn.functional.cross_entropy(logits[asked], targets[asked], reduction="none")
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
