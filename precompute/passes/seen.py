"""Which tokens a query of each layer looks at, where layers may look through windows."""

from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from analysis.models.trace import Trace

Seen = tuple[Bool[np.ndarray, "query key"], ...]
"""One for each layer; layers that look equally far share theirs."""


def seen(trace: Trace, n_tokens: int) -> Seen:
    """Which keys each query of a sequence may look at, by layer."""
    weights = [each.weights for each in trace.layers]
    found = {each.window: each.pairs(n_tokens).numpy() for each in weights}
    return tuple(found[each.window] for each in weights)


def reached(of_layers: Seen) -> Seen:
    """From which tokens of the input anything can be in a token after each layer."""
    return tuple(accumulate(of_layers, _and_before))


def _and_before(
    before: Bool[np.ndarray, "query key"], now: Bool[np.ndarray, "query key"]
) -> Bool[np.ndarray, "query key"]:
    return now.astype(np.float32) @ before.astype(np.float32) > 0


def padded(trace: Trace) -> tuple[Bool[Tensor, "batch query key"], ...]:
    """`seen` of a padded batch: neither side of a pair is padding."""
    is_token = trace.is_token
    there = is_token[:, :, None] & is_token[:, None, :]
    of_layers = seen(trace, is_token.shape[1])
    found = {id(each): there & torch.from_numpy(each).to(is_token.device) for each in of_layers}
    return tuple(found[id(each)] for each in of_layers)
