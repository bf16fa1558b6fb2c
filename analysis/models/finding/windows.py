"""Windows of attention: how far each layer sees."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import attention_observed
from analysis.models.trace import LayerWeights, Model

_STATED = ("sliding_window", "window_size", "local_attention")
WIDEST = 1024
"""Widest window in tokens that is measured, with a text that is longer."""


def windows_of(
    model: Model,
    layers: Sequence[LayerWeights],
    longest: int,
    text: Callable[[int], Mapping[str, Any]],
) -> tuple[int | None, ...]:
    """Return the largest distance in tokens that each layer sees; None without a window.

    Where a configuration states a window, a text that is longer shows which layers have it.

    Args:
        layers: those that attend, which may see no later token.
        longest: longest text of the model, in tokens.
        text: makes the inputs of one text of so many tokens.

    Raises:
        UnfitModel: if the window is too wide to be measured, and not only earlier tokens are seen.
    """
    stated = [getattr(model.config, name, None) for name in _STATED]
    widest = max((width for width in stated if isinstance(width, int)), default=0)
    if not 0 < widest < longest:
        return (None,) * len(layers)
    if widest <= WIDEST:
        reaches: list[int] = []
        with torch.inference_mode():
            n_tokens = min(widest + 2, longest)
            with attention_observed(model, 1, lambda seen: reaches.append(_reach(seen.weights))):
                model(**text(n_tokens), return_dict=True)
        return tuple(None if reach == n_tokens - 1 else reach for reach in reaches)
    if not all(layer.is_causal for layer in layers):
        raise UnfitModel(
            f"The model sees {widest:,} tokens to both sides in some layers, and such windows are "
            f"read up to {WIDEST:,}."
        )
    kinds = getattr(model.config, "layer_types", None)
    return tuple(
        widest - 1 if kinds is None or "sliding" in kinds[layer.number - 1] else None
        for layer in layers
    )


def _reach(weights: Tensor) -> int:
    """Return the largest distance in tokens between a query and an earlier key that it sees."""
    sees = (weights > 0).any(dim=0).any(dim=0)
    places = torch.arange(len(sees), device=sees.device)
    return int(((places[:, None] - places) * sees).max())
