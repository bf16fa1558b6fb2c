"""All relevance maps of a batch, by every rule and by the methods for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int, Int8, UInt8
from torch import Tensor

from analysis.measures.mixing.layer_mixing import LayerMixing, attention_mixing
from analysis.measures.relevance.relevance import Carried, carried_relevance
from analysis.measures.relevance.relevance_comparison import (
    gradient_attention,
    raw_attention,
    rolled_back,
)
from analysis.models.trace import LayerTrace, Trace
from analysis.relevance_rules import ALL, MEAN_WEIGHTS, RULES
from analysis.token_types import CLS
from precompute.models.classification import ClassGradients

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


def relevance_maps(
    trace: Trace,
    starts: Sequence[np.ndarray | None],
    *,
    mixing: Sequence[tuple[LayerMixing, ...] | None],
    gradients: ClassGradients | None,
) -> tuple[RelevanceMaps | None, ...]:
    """Return the relevance maps of every sequence; None without a token to start from.

    Args:
        starts: per sequence, starting weights of relevance.
        mixing: per sequence, its layers; None if they are not rolled out.
        gradients: of a class; None if the model predicts no classes.
    """
    start = _padded(starts, trace.is_token).to(trace.layers[0].attention.dtype)
    carried = carried_relevance(
        [layer.attention for layer in trace.layers],
        [layer.values for layer in trace.layers],
        start=start,
        is_token=trace.is_token,
    )
    heads, means = _on_cpu(carried.heads), _on_cpu(carried.mean_weights)
    maps: list[RelevanceMaps | None] = []
    for row, weights in enumerate(starts):
        if weights is None:
            maps.append(None)
            continue
        n_tokens = len(weights)
        layers = [layer.of_sequence(row, n_tokens) for layer in trace.layers]
        slopes = gradients and [g[row, :, :n_tokens, :n_tokens] for g in gradients.layers]
        parts = _carried(heads, means, row, n_tokens)
        parts += _compared(layers, start[row, :n_tokens], slopes)
        parts += _rolled(layers, weights, mixing[row])
        maps.append(_joined(parts))
    return tuple(maps)


def _padded(
    starts: Sequence[np.ndarray | None], is_token: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch token"]:
    start = torch.zeros(is_token.shape, dtype=torch.float64)
    for row, weights in enumerate(starts):
        if weights is not None:
            start[row, : len(weights)] = torch.from_numpy(weights)
    return start.to(is_token.device)


def _on_cpu(carried: Carried) -> Carried:
    return Carried(*(tensor.cpu() for tensor in carried))


def _carried(heads: Carried, means: Carried, row: int, n_tokens: int) -> list[_Part]:
    """Maps of every rule by head with their mean, then on mean weights.

    The error of the mean is at most the largest of the heads; its tokens in place are the sum of
    theirs.
    """
    parts = []
    for place, rule in enumerate(RULES):
        maps, error, in_place = (tensor[place, row] for tensor in heads)
        of_heads = maps[..., :n_tokens]
        parts.append(
            _Part(
                rule,
                torch.cat([of_heads, of_heads.mean(dim=1, keepdim=True)], dim=1).numpy(),
                torch.cat([error, error.amax(dim=1, keepdim=True)], dim=1).numpy(),
                torch.cat([in_place, in_place.sum(dim=1, keepdim=True)], dim=1).numpy(),
            )
        )
    for place, rule in enumerate(MEAN_WEIGHTS):
        maps, error, in_place = (tensor[place, row].numpy() for tensor in means)
        parts.append(_Part(rule, maps[..., :n_tokens], error, in_place))
    return parts


def _compared(
    layers: Sequence[LayerTrace], start: Float[Tensor, " token"], slopes: Sequence[Tensor] | None
) -> list[_Part]:
    """Attention of the start in each layer, and gradient attention of a class."""
    attention = [layer.attention[0] for layer in layers]
    of_heads = torch.stack([raw_attention(weights, start) for weights in attention])
    parts = [
        _Part(
            "attention",
            torch.cat([of_heads, of_heads.mean(dim=1, keepdim=True)], dim=1).cpu().numpy(),
        )
    ]
    if slopes is not None:
        maps = gradient_attention(attention, [slope.to(start.dtype) for slope in slopes], start)
        of_class = maps[None, None].cpu().numpy()
        parts.append(_Part("gradient_attention", of_class, first_layer=len(layers) - 1))
    return parts


def _rolled(
    layers: Sequence[LayerTrace],
    start: Float[np.ndarray, " token"],
    mixing: Sequence[LayerMixing] | None,
) -> list[_Part]:
    """Rollout of the start by norms: of attention with its residual, and of whole layers if
    known."""
    maps = [attention_mixing(layer).numpy() for layer in layers]
    parts = [_Part("norm_rollout", rolled_back(maps, start)[:, None])]
    if mixing is not None:
        of_layers = [layer.maps[-1].numpy() for layer in mixing]
        parts.append(_Part("norm_rollout_layer", rolled_back(of_layers, start)[:, None]))
    return parts


def _joined(parts: list[_Part]) -> RelevanceMaps:
    rows = [part.rows() for part in parts]
    names = RelevanceMaps.__dataclass_fields__
    return RelevanceMaps(
        **{name: np.concatenate([getattr(row, name) for row in rows]) for name in names}
    )


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
