"""Published attribution methods in the shape of relevance, for comparison."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.rollout import rolled_on


def raw_attention(
    attention: Float[Tensor, "head query key"], start: Float[Tensor, " query"]
) -> Float[Tensor, "head key"]:
    """Attention weights of the start in one layer, without any step back.

    Returns:
        Shares, 1 in sum for each head.

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
