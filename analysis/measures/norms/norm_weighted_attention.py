"""Attention weighed by transformed vectors: ‖αf(x)‖ in the place of α."""

import torch
from jaxtyping import Float
from torch import Tensor


def norm_weighted_attention(
    attention: Float[Tensor, "*any query key"], value_norms: Float[Tensor, "*any key"]
) -> Float[Tensor, "*any query key"]:
    """‖α_ij f(x_j)‖ / Σ_k ‖α_ik f(x_k)‖, which is α where all ‖f(x)‖ are equal.

    The scale of a head's vectors as a whole cancels. A row of zero norms (a pruned head) keeps its
    weights: the limit of equal norms that shrink to 0.

    Args:
        value_norms: ‖f(x)‖ of every token and head, as `value_norms` gives them.

    Returns:
        Shares in float32 or finer; rows sum to 1 where those of `attention` do not sum to 0.

    Source:
        kobayashi-2020, section 3.2, eq. 8; its conclusion proposes to repeat earlier analyses so.

    Differs:
        The paper never scales rows: entropies and divergences need distributions.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    weights = attention.to(exact)
    norms = weights * value_norms.to(exact)[..., None, :]
    total = norms.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, norms / total.where(total > 0, 1.0), weights)
