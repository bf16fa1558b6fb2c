"""Gradient of a model's loss with respect to attention, summed by type of attended token."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.head_slices import head_slices


def gradient_importance(
    gradients: Float[Tensor, "batch head query key"],
    is_pair: Bool[Tensor, "batch query key"],
    is_type: Bool[Tensor, "batch key value"],
) -> Float[Tensor, "batch head value"]:
    """Σ |∂L/∂α| over the pairs with a key of a type, divided by the number of tokens.

    A pair that a causal model does not have counts nothing, whatever its derivative.

    Args:
        gradients: ∂L/∂α, L being the loss of each sequence alone.
        is_pair: True where a query sees a key and neither is padding.
        is_type: True where a key is of a type.

    Returns:
        In the unit of L, since α has none; 0 where a text has no token of the type.

    Source:
        clark-2019, section 3.2, figure 3.

    Differs:
        The paper does not define the loss over masked tokens (sum or mean), nor the sum over the
        gradients of a text. Here the loss is a mean; its gradients are added up over the pairs of a
        type and divided as attention is.
    """
    n_tokens = is_pair.diagonal(dim1=1, dim2=2).sum(dim=-1)
    seen = is_pair.to(gradients.dtype)
    slices = head_slices(gradients.shape)
    received = torch.cat(
        [torch.einsum("bhqk,bqk->bhk", gradients[:, heads].abs(), seen) for heads in slices], dim=1
    )
    return received @ is_type.to(gradients.dtype) / n_tokens[:, None, None]
