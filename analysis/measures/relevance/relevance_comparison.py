"""Published attribution methods in the shape of relevance, for comparison."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.sequence_rollout import rolled_out


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


def rolled_back(
    maps: Iterable[Float[np.ndarray, "query key"]], start: Float[np.ndarray, " token"]
) -> Float[np.ndarray, "start token"]:
    """Share of every input token in the start by rollout, for each layer that it may start after.

    Args:
        maps: of one scope, from the first layer to the last.

    Returns:
        Shares, 1 in sum for each layer.

    Source:
        abnar-2020, section 3, over norms as in modarressi-2022, section 3; the maps are those of
        kobayashi-2021, section 3, or of kobayashi-2024, section 4.
    """
    return np.stack([(start @ rollout)[0] for rollout in rolled_out(m[None] for m in maps)])


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
