"""How a loss changes with each attention weight, all others that follow it changing too."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from analysis.models.capture import change_output
from analysis.models.parts import attentions_of, forward_pass
from analysis.models.trace import Model

NO_TARGET = -1
"""Where no token is asked for, in an array of the tokens that are."""
Loss = Callable[[Tensor], Tensor]
"""From the last hidden states of a batch to the sum of its sequences' losses."""


@dataclass(frozen=True)
class AttentionGradients:
    """∂L/∂α of every layer, α taken as if it were free; of the sequences that have a loss L."""

    objective: str
    layers: tuple[Float[Tensor, "batch head query key"], ...]
    has_loss: Bool[Tensor, " batch"]


def attention_gradients(
    model: Model, inputs: dict[str, Tensor], loss: Loss, *, first: nn.Module, n_layers: int
) -> tuple[Tensor, ...]:
    """One forward and one backward pass; no gradient of a weight of the model is computed.

    Args:
        first: the module that puts out what the first layer gets.
    """
    with torch.enable_grad(), change_output(first, lambda out: out.detach().requires_grad_()):
        output = forward_pass(model, inputs)
        attentions = attentions_of(output, n_layers)
        return torch.autograd.grad(loss(output.last_hidden_state), attentions)


def token_losses(
    hidden: Float[Tensor, "batch token width"],
    targets: Int[Tensor, "batch token"],
    logits: Callable[[Tensor], Tensor],
) -> Tensor:
    """The mean cross-entropy in nats at the tokens of each sequence that have a target, summed.

    Only their hidden states go through the head of the language model.
    """
    asked = targets != NO_TARGET
    row, _ = asked.nonzero(as_tuple=True)
    losses = nn.functional.cross_entropy(logits(hidden[asked]), targets[asked], reduction="none")
    return (losses / asked.sum(dim=1)[row]).sum()


def next_tokens(
    ids: Int[Tensor, "batch token"], is_token: Bool[Tensor, "batch token"]
) -> Int[Tensor, "batch token"]:
    """The token after each; none after the last and after padding."""
    shifted = torch.full_like(ids, NO_TARGET)
    shifted[:, :-1] = ids[:, 1:].where(is_token[:, 1:], NO_TARGET)
    return shifted


def pooled_lengths(
    hidden: Float[Tensor, "batch token width"], is_token: Bool[Tensor, "batch token"]
) -> Tensor:
    """The squared length of the mean hidden state of each sequence, summed."""
    total = (hidden * is_token[..., None]).sum(dim=1)
    return (total / is_token.sum(dim=1, keepdim=True)).square().sum()
