"""Masks of the keys that queries of each layer see, with windows."""

from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from analysis.models.trace import LayerWeights

LayerMasks = tuple[Bool[np.ndarray, "query key"], ...]
"""One mask for each layer; layers with equal windows share theirs."""


def masks_of(layers: tuple[LayerWeights, ...], n_tokens: int) -> LayerMasks:
    """Masks of the keys that each query of a sequence sees, by layer."""
    by_window = {layer.window: layer for layer in layers}
    masks = {window: layer.pairs(n_tokens).numpy() for window, layer in by_window.items()}
    return tuple(masks[layer.window] for layer in layers)


def reachable(of_layers: LayerMasks) -> LayerMasks:
    """Masks of the input tokens that can have reached each token after each layer.

    A layer that adds none shares the mask of the layer before it.
    """
    return tuple(accumulate(of_layers, _and_before))


def _and_before(
    before: Bool[np.ndarray, "query key"], now: Bool[np.ndarray, "query key"]
) -> Bool[np.ndarray, "query key"]:
    both = now.astype(np.float32) @ before.astype(np.float32) > 0
    return before if np.array_equal(both, before) else both


def padded_masks(
    layers: tuple[LayerWeights, ...], is_token: Bool[Tensor, "batch token"]
) -> tuple[Bool[Tensor, "batch query key"], ...]:
    """Masks of a padded batch, by layer; neither side of a pair is padding."""
    there = is_token[:, :, None] & is_token[:, None, :]
    of_layers = masks_of(layers, is_token.shape[1])
    by_id = {id(pairs): there & torch.from_numpy(pairs).to(is_token.device) for pairs in of_layers}
    return tuple(by_id[id(pairs)] for pairs in of_layers)
