"""Jensen–Shannon distances between the attention of any two heads, whatever their layers."""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

SMOOTHING = 0.001
"""Share of every row that is spread evenly."""
_PIECE = 2048  # pairs of tokens at a time: their weights in all heads fit into the caches


def head_distances(
    attention: Float[Tensor, "head query key"], seen: Bool[Tensor, "query key"]
) -> Float[np.ndarray, "head head"]:
    """Σ over rows of JS(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2 for rows p, q of two heads.

    A row is smoothed first, 0.999 α + 0.001 / m over the m keys that its query sees. Pairs of
    tokens are in no order here, so all that a query can see lies in one long vector per head, and
    two heads cost one logarithm per pair of tokens.

    Args:
        attention: α of all or some queries of one text without padding, the heads of all layers
            one after the other; with sink logits the share that goes to no token is one more key.
        seen: True where a query sees a key, in any layer.

    Returns:
        Nats, from 0 to rows · ln 2; symmetric, 0 on the diagonal; in float64.

    Source:
        clark-2019, section 6.

    Differs:
        The paper's formula has no smoothing, its released code has this one over all keys.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    n_keys = seen.sum(dim=1, keepdim=True).expand_as(seen).flatten()
    rows = attention.flatten(1)
    upper = np.zeros((len(rows), len(rows)))
    for places in seen.flatten().nonzero()[:, 0].split(_PIECE):
        even = SMOOTHING / n_keys[places].to(exact)
        smoothed = (1 - SMOOTHING) * rows[:, places].to(exact) + even
        upper += _negative_entropies((smoothed / 2).cpu().numpy())
    diagonal = upper.diagonal()
    divergence = np.triu((diagonal[:, None] + diagonal) / 2 - upper, 1).clip(min=0)
    return divergence + divergence.T


def _negative_entropies(halves: Float[np.ndarray, "head value"]) -> Float[np.ndarray, "head head"]:
    """Σ m ln m of m = half of one head + half of another, at and above the diagonal.

    NumPy takes a third of the processor time that PyTorch takes, on one core.
    """
    n_heads = len(halves)
    sums = np.zeros((n_heads, n_heads))
    mixed, logarithm = np.empty_like(halves), np.empty_like(halves)
    for head in range(n_heads):
        np.add(halves[head:], halves[head], out=mixed[head:])
        np.log(mixed[head:], out=logarithm[head:])
        sums[head, head:] = np.vecdot(mixed[head:], logarithm[head:])
    return sums
