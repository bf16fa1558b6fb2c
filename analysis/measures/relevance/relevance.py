"""Relevance carried from a layer's output back to the input, and published methods to compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures.mixing.rollout import rolled_on


class Carried(NamedTuple):
    """Relevance at the input, for every layer at whose output it may start.

    Rules stand in the order of `analysis.relevance_rules.RULES`. `conservation_error` is the
    largest |Σ R − 1| on the way down. `n_in_place` counts the tokens, over all layers passed, that
    kept their relevance because all tokens they could pass it to had weight 0.
    """

    maps: Float[Tensor, "rule batch start head token"]
    conservation_error: Float[Tensor, "rule batch start head"]
    n_in_place: Int[Tensor, "rule batch start head"]


@dataclass(frozen=True)
class Relevance:
    """Relevance carried down by each head through all layers, and once on mean weights.

    `mean_weights` has a head axis of length 1. The mean of the heads is that of `heads.maps`.
    """

    heads: Carried
    mean_weights: Carried


def carried_relevance(
    attention: Sequence[Float[Tensor, "batch head query key"]],
    values: Sequence[Float[Tensor, "batch head key head_width"]],
    *,
    start: Float[Tensor, "batch token"],
    is_token: Bool[Tensor, "batch token"],
) -> Relevance:
    """R_j of layer l − 1 = Σ_i a_j W_ij / (Σ_k a_k W_ik) · R_i of layer l, down to the input.

    | rule | a_j | W_ij |
    | --- | --- | --- |
    | i | 1 | w_ij + δ_ij |
    | ii | ‖v_j − v̄‖ | w_ij + δ_ij |
    | iii | 1 | ‖v_j − v_i‖ w_ij + δ_ij |
    | iv | ‖v_j − v̄‖ | ‖v_j − v_i‖ w_ij + δ_ij |

    w_ij is the attention of token i to token j, v the head's own values, v̄ their mean over all
    tokens of the sequence. With D = Wa this is a ⊙ Wᵀ(R ⊘ D), one product for all layers that
    relevance starts at; every layer on the way down adds one of them. With mean weights, W and a
    are those of the heads, averaged, and there is one way down.

    Args:
        attention: of every layer, from the first to the last.
        values: the same, before the output projection.
        start: the relevance at the output of the layer it starts at; 1 in sum, 0 on padding.
        is_token: False on padding.

    Returns:
        Shares, 1 in sum for every rule, layer and head.

    Source:
        sawaki-2025, rules (i) to (iv); abnar-2020, section 3, which rule i is.

    Differs:
        Where a denominator is 0, which the paper does not speak of, relevance stays in place. The
        way down on mean weights is ours.
    """
    heads = _WayDown(start, n_heads=attention[0].shape[1], n_layers=len(attention))
    mean_weights = _WayDown(start, n_heads=1, n_layers=len(attention))
    for index in reversed(range(len(attention))):
        weights = attention[index]
        deviation, distance = value_distances(values[index], is_token)
        mixings = (weights, distance.mul_(weights))
        heads.pass_layer(index, deviation, mixings)
        means = [by_head.mean(dim=1, keepdim=True) for by_head in (deviation, *mixings)]
        mean_weights.pass_layer(index, means[0], (means[1], means[2]))
    return Relevance(heads.carried, mean_weights.carried)


class _WayDown:
    """Relevance on its way from the last layer to the first, all starts side by side.

    Axes are: distances in W or not, batch, head, distances in a or not, start, token. Rules with
    the same W stand together, since they share one product.
    """

    def __init__(self, start: Float[Tensor, "batch token"], *, n_heads: int, n_layers: int):
        batch, n_tokens = start.shape
        self.start = start[:, None, None]
        self.maps = start.new_zeros(2, batch, n_heads, 2, n_layers, n_tokens)
        self.error = torch.zeros_like(self.maps[..., 0])
        self.n_in_place = torch.zeros_like(self.error, dtype=torch.long)

    def pass_layer(
        self,
        index: int,
        deviation: Float[Tensor, "batch head key"],
        mixings: tuple[Tensor, Tensor],
    ) -> None:
        """Start relevance at the output of a layer, and carry it and all earlier starts through."""
        self.maps[..., index, :] = self.start
        largest = deviation.amax(dim=-1, keepdim=True)  # which no rule sees, and no range leaves
        relative = torch.where(largest > 0, deviation / largest, deviation)
        activations = torch.stack([torch.ones_like(relative), relative], dim=2)
        for kind, mixing in enumerate(mixings):
            passed = self.maps[kind, ..., index:, :]
            moved, stays = _moved(passed, mixing, activations)
            passed.copy_(moved)
            self.n_in_place[kind, ..., index:] += stays
        off = (self.maps[..., index:, :].sum(dim=-1) - 1).abs_()
        self.error[..., index:] = torch.maximum(self.error[..., index:], off)

    @property
    def carried(self) -> Carried:
        def by_rule(values: Tensor) -> Tensor:
            return values.movedim((0, 3, 1, 4, 2), (0, 1, 2, 3, 4)).flatten(0, 1)

        return Carried(by_rule(self.maps), by_rule(self.error), by_rule(self.n_in_place))


def _moved(
    relevance: Float[Tensor, "batch head *rules start token"],
    mixing: Float[Tensor, "batch head query key"],
    activation: Float[Tensor, "batch head *rules key"],
) -> tuple[Float[Tensor, "batch head *rules start token"], Int[Tensor, "batch head *rules start"]]:
    """Relevance one layer down, and the number of tokens that kept theirs at denominator 0.

    W = `mixing` + I. A denominator is 0 below the smallest number by which n of them can be divided
    and added without leaving the range of the number format.
    """
    denominator = activation @ mixing.mT + activation
    smallest = torch.finfo(denominator.dtype).tiny * denominator.shape[-1]
    stays = (denominator < smallest).unsqueeze(3)
    divided = (relevance / denominator.unsqueeze(3)).masked_fill_(stays, 0)
    spread = (divided.flatten(2, 3) @ mixing).view_as(divided)
    kept = relevance * stays
    moved = spread.add_(divided).mul_(activation.unsqueeze(3)).add_(kept)
    return moved, (kept > 0).sum(dim=-1)


def value_distances(
    values: Float[Tensor, "batch head key head_width"], is_token: Bool[Tensor, "batch key"]
) -> tuple[Float[Tensor, "batch head key"], Float[Tensor, "batch head query key"]]:
    """‖v_j − v̄‖ and ‖v_j − v_i‖, invariant to a vector added to all values.

    The products are taken in float64, from values less the first one, so that near ones stay
    distinct and equal ones lie at exactly 0.

    Source:
        sawaki-2025, rules (ii) to (iv).
    """
    there = is_token[:, None, :, None]
    centred = (values.double() - values[:, :, :1].double()) * there
    mean = centred.sum(dim=2, keepdim=True) / there.sum(dim=2, keepdim=True)
    centred = (centred - mean) * there
    squares = centred.square().sum(dim=-1)
    apart = (centred @ centred.mT).mul_(-2)
    apart.add_(squares.unsqueeze(2)).add_(squares.unsqueeze(3)).clamp_min_(0)
    apart.diagonal(dim1=2, dim2=3).zero_()
    return squares.sqrt().to(values.dtype), apart.to(values.dtype).sqrt_()


def raw_attention(
    attention: Float[Tensor, "head query key"], start: Float[Tensor, " query"]
) -> Float[Tensor, "head key"]:
    """Attention weights of the start in one layer, without any step back.

    Returns:
        Shares, 1 in sum for each head, less the share that goes to no token.

    Source:
        clark-2019, section 3; abnar-2020, section 3, which calls it raw attention.
    """
    return start @ attention


class RolledBack:
    """Share of every input token in the start by rollout, for each layer that it may start after.

    Between layers it keeps the product of the maps so far, n² numbers.

    Args:
        start: the share of each token at the output of the layer; 1 in sum.

    Source:
        abnar-2020, section 3, over norms as in modarressi-2022, section 3; the maps are those of
        kobayashi-2021, section 3, or of kobayashi-2024, section 4.
    """

    def __init__(self, start: Float[np.ndarray, " token"]):
        self.start, self.shares = start, []
        self._product: Float[np.ndarray, "scope query key"] | None = None

    def pass_layer(self, layer_map: Float[np.ndarray, "query key"]) -> None:
        """Add the shares for relevance that starts after the next layer."""
        self._product = rolled_on(self._product, layer_map[None])
        self.shares.append((self.start @ self._product)[0])


def gradient_attention(
    attention: Sequence[Float[Tensor, "head query key"]],
    gradients: Sequence[Float[Tensor, "head query key"]],
    start: Float[Tensor, " token"],
) -> Float[Tensor, " token"]:
    """R ← R + ĀR from R = I, through all layers, with Ā the head mean of (∇A ⊙ A)⁺.

    Args:
        gradients: of the logit of a class, in the attention weights.

    Returns:
        Shares, 1 in sum: the rows of R that the start weighs.

    Source:
        chefer-2021, section 3, the rule for self-attention alone.

    Differs:
        Divided by its sum, so that shares compare; the order of tokens stays.
    """
    relevance = torch.eye(len(start), dtype=start.dtype, device=start.device)
    for weights, gradient in zip(attention, gradients, strict=True):
        relevance = relevance + (gradient * weights).clamp(min=0).mean(dim=0) @ relevance
    row = start @ relevance
    return row / row.sum()
