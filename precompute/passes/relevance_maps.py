"""Relevance maps of a batch, by every rule and by the methods for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int, Int8, UInt8
from torch import Tensor

from analysis.measures.mixing.layer_mixing import attention_mixing
from analysis.measures.relevance.relevance import (
    Carried,
    RolledBack,
    carried_relevance,
    gradient_attention,
    raw_attention,
)
from analysis.relevance_rules import ALL, MEAN_WEIGHTS, MOST_BYTES, RULES
from analysis.token_types import CLS
from precompute.passes.layers import Batch, Layer

MEAN = -1
"""Number in place of a head: the mean of all heads."""
NOT_CARRIED = -1
"""Count of tokens in place for methods that carry no relevance by rules."""
WHOLE_LAYERS = 64
"""Most sequences whose whole layers are rolled out: they need a hidden vector per pair of tokens,
which takes longer than all other maps together."""


@dataclass(frozen=True)
class RelevanceMaps:
    """All maps of one sequence; fields of one map share an index in all arrays.

    `rule` is an index in `analysis.relevance_rules.ALL`, `layer` the one that relevance starts
    after, `head` counts from 0 or is `MEAN`. `conservation_error` is NaN and `n_in_place` is
    `NOT_CARRIED` for methods without rules.
    """

    rule: Int8[np.ndarray, " row"]
    layer: Int[np.ndarray, " row"]
    head: Int[np.ndarray, " row"]
    maps: Float32[np.ndarray, "row token"]
    conservation_error: Float[np.ndarray, " row"]
    n_in_place: Int[np.ndarray, " row"]

    def where(self, rule: str, *, layer: int | None = None) -> Bool[np.ndarray, " row"]:
        """Mask of the maps of a rule, and of a layer counted from 0 if one is given."""
        of_rule = self.rule == ALL.index(rule)
        return of_rule if layer is None else of_rule & (self.layer == layer)

    def mean_maps(self, layer: int) -> dict[str, Float32[np.ndarray, " token"]]:
        """Return the head-independent map of each rule, for relevance that starts after a layer.

        The layer counts from 0; a rule without such a map is left out.
        """
        chosen = np.flatnonzero((self.layer == layer) & (self.head == MEAN))
        return {ALL[self.rule[place]]: self.maps[place] for place in chosen}


@dataclass(frozen=True)
class _Part:
    """Maps of one rule, by layer and head; the last of several heads is their mean."""

    rule: str
    maps: Float[np.ndarray, "start head token"]
    error: Float[np.ndarray, "start head"] | None = None
    n_in_place: Int[np.ndarray, "start head"] | None = None
    first_layer: int = 0

    def rows(self) -> RelevanceMaps:
        n_layers, n_heads, n_tokens = self.maps.shape
        size = n_layers * n_heads
        heads = np.array([*range(n_heads - 1), MEAN])
        error, in_place = self.error, self.n_in_place
        return RelevanceMaps(
            rule=np.full(size, ALL.index(self.rule), dtype=np.int8),
            layer=(self.first_layer + np.arange(n_layers)).repeat(n_heads),
            head=np.tile(heads, n_layers),
            maps=self.maps.reshape(size, n_tokens).astype(np.float32),
            conservation_error=np.full(size, np.nan) if error is None else error.ravel(),
            n_in_place=np.full(size, NOT_CARRIED) if in_place is None else in_place.ravel(),
        )


class Relevance:
    """Relevance maps of the sequences of a batch, known once all layers are added.

    The rules start at the last layer, so weights and values of all layers are kept for them: 30 MB
    for an image of 197 tokens in 12 layers of 12 heads of width 64. Rollouts keep n² numbers each.
    Sequences whose weights would take more than `MOST_BYTES` have no maps, nor have those without
    a token to start from.
    """

    def __init__(self, batch: Batch):
        self.batch = batch
        self._starts: dict[int, Float[np.ndarray, " token"]] = {}
        for row in range(len(batch.sequences)):
            types = batch.sequences[row].token_types
            start = start_weights(batch.relevance_start, types, batch.is_content[row])
            if start is not None and attention_bytes(batch, row) <= MOST_BYTES:
                self._starts[row] = start
        whole = set(batch.rows_of(batch.kept, WHOLE_LAYERS))
        self._by_attention = {row: RolledBack(start) for row, start in self._starts.items()}
        self._by_layers = {
            row: RolledBack(start) for row, start in self._starts.items() if row in whole
        }
        self._attention: list[Float[Tensor, "batch head query key"]] = []
        self._values: list[Float[Tensor, "batch head key head_width"]] = []

    def add(self, layer: Layer) -> None:
        """Add the next layer, unless another pass has added it."""
        if layer.index < len(self._attention) or not self._starts:
            return
        rows, real = list(self._starts), slice(max(map(len, self._starts.values())))
        self._attention.append(layer.attention[rows, :, real, real])
        self._values.append(layer.trace.values[rows, :, real])
        for row, rolled in self._by_attention.items():
            rolled.pass_layer(attention_mixing(layer.alone(row)).numpy())
        for row, rolled in self._by_layers.items():
            rolled.pass_layer(layer.mixing_of(row).maps[-1].numpy())

    @cached_property
    def maps(self) -> dict[int, RelevanceMaps]:
        """Relevance maps of every sequence that has any, by its row in the batch."""
        if not self._starts:
            return {}
        start, is_token = self._padded()
        carried = carried_relevance(self._attention, self._values, start=start, is_token=is_token)
        heads, means = (
            Carried(*(tensor.cpu() for tensor in of))
            for of in (carried.heads, carried.mean_weights)
        )
        gradients = self._gradients()
        maps = {}
        for place, (row, weights) in enumerate(self._starts.items()):
            real = slice(len(weights))
            attention = [of_layer[place, :, real, real] for of_layer in self._attention]
            slopes = [of_layer[place, :, real, real].to(start.dtype) for of_layer in gradients]
            parts = _carried(heads, means, place, len(weights))
            parts += _compared(attention, start[place, real], slopes)
            parts += self._rolled(row)
            rows = [part.rows() for part in parts]
            maps[row] = RelevanceMaps(
                **{
                    field.name: np.concatenate([getattr(of, field.name) for of in rows])
                    for field in fields(RelevanceMaps)
                }
            )
        return maps

    def _padded(self) -> tuple[Float[Tensor, "batch token"], Bool[Tensor, "batch token"]]:
        """Starting weights and the mask of real tokens, for the sequences that have maps."""
        longest = self._attention[0].shape[-1]
        starts = torch.zeros(len(self._starts), longest, dtype=torch.float64)
        for place, weights in enumerate(self._starts.values()):
            starts[place, : len(weights)] = torch.from_numpy(weights)
        lengths = torch.tensor([len(weights) for weights in self._starts.values()])
        is_token = torch.arange(longest) < lengths[:, None]
        return starts.to(self._attention[0]), is_token.to(self._attention[0].device)

    def _gradients(self) -> tuple[Float[Tensor, "batch head query key"], ...]:
        """Gradients of the predicted class in every layer; none without classes."""
        if self.batch.classification is None:
            return ()
        sequences = [self.batch.sequences[row] for row in self._starts]
        return self.batch.classification.gradients(sequences).layers

    def _rolled(self, row: int) -> list[_Part]:
        """Rollout by norms: of attention with its residual, and of whole layers if known."""
        rollouts = {"norm_rollout": self._by_attention, "norm_rollout_layer": self._by_layers}
        return [
            _Part(rule, np.stack(of[row].shares)[:, None])
            for rule, of in rollouts.items()
            if row in of
        ]


def attention_bytes(batch: Batch, row: int) -> int:
    """Return the memory of a sequence's attention weights of all layers in float32."""
    n_tokens, n_heads = len(batch.sequences[row]), len(batch.layers) * batch.n_heads
    return n_heads * n_tokens**2 * torch.float32.itemsize


def _carried(heads: Carried, means: Carried, place: int, n_tokens: int) -> list[_Part]:
    """Maps of every rule by head with their mean, then on mean weights.

    The error of the mean is at most the largest of the heads; its tokens in place are the sum of
    theirs.
    """
    parts = []
    for number, rule in enumerate(RULES):
        maps, error, in_place = (tensor[number, place] for tensor in heads)
        of_heads = maps[..., :n_tokens]
        parts.append(
            _Part(
                rule,
                torch.cat([of_heads, of_heads.mean(dim=1, keepdim=True)], dim=1).numpy(),
                torch.cat([error, error.amax(dim=1, keepdim=True)], dim=1).numpy(),
                torch.cat([in_place, in_place.sum(dim=1, keepdim=True)], dim=1).numpy(),
            )
        )
    for number, rule in enumerate(MEAN_WEIGHTS):
        maps, error, in_place = (tensor[number, place].numpy() for tensor in means)
        parts.append(_Part(rule, maps[..., :n_tokens], error, in_place))
    return parts


def _compared(
    attention: Sequence[Float[Tensor, "head query key"]],
    start: Float[Tensor, " token"],
    slopes: Sequence[Float[Tensor, "head query key"]],
) -> list[_Part]:
    """Attention of the start in each layer, and gradient attention of a class, if there are any."""
    of_heads = torch.stack([raw_attention(weights, start) for weights in attention])
    with_mean = torch.cat([of_heads, of_heads.mean(dim=1, keepdim=True)], dim=1)
    parts = [_Part("attention", with_mean.cpu().numpy())]
    if slopes:
        of_class = gradient_attention(attention, slopes, start)[None, None].cpu().numpy()
        parts.append(_Part("gradient_attention", of_class, first_layer=len(attention) - 1))
    return parts


def start_weights(
    name: str, token_types: UInt8[np.ndarray, " token"], is_content: Bool[np.ndarray, " token"]
) -> Float[np.ndarray, " token"] | None:
    """Starting weights of relevance in a sequence, 1 in sum; None without such a token.

    Args:
        name: a key of `analysis.relevance_rules.STARTS`.
    """
    is_cls = token_types == CLS
    starts = {
        "cls": is_cls & (is_cls.cumsum() == 1),
        "cls_and_distillation": is_cls,
        "patches": is_content,
        "last": np.arange(len(token_types)) == len(token_types) - 1,
    }[name]
    return starts / starts.sum() if starts.any() else None
