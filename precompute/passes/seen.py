"""Masks of the keys that queries of each layer see, with windows."""

from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from analysis.models.trace import Trace

Seen = tuple[Bool[np.ndarray, "query key"], ...]
"""One mask for each layer; layers with equal windows share theirs."""


def seen(trace: Trace, n_tokens: int) -> Seen:
    """Masks of the keys that each query of a sequence sees, by layer."""
    weights = [layer.weights for layer in trace.layers]
    by_window = {layer.window: layer.pairs(n_tokens).numpy() for layer in weights}
    return tuple(by_window[layer.window] for layer in weights)


def reached(of_layers: Seen) -> Seen:
    """Masks of the input tokens that can have reached each token after each layer."""
    return tuple(accumulate(of_layers, _and_before))


def _and_before(
    before: Bool[np.ndarray, "query key"], now: Bool[np.ndarray, "query key"]
) -> Bool[np.ndarray, "query key"]:
    return now.astype(np.float32) @ before.astype(np.float32) > 0


def padded(trace: Trace) -> tuple[Bool[Tensor, "batch query key"], ...]:
    """Masks of a padded batch, by layer; neither side of a pair is padding."""
    is_token = trace.is_token
    there = is_token[:, :, None] & is_token[:, None, :]
    of_layers = seen(trace, is_token.shape[1])
    by_id = {id(pairs): there & torch.from_numpy(pairs).to(is_token.device) for pairs in of_layers}
    return tuple(by_id[id(pairs)] for pairs in of_layers)
