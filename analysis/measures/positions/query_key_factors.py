"""A head's query and key projections as one bilinear form, in its own coordinates."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class QueryKeyFactors:
    """W_A = query · diag(values) · keyᵀ on [x 1]: the thin singular value decomposition of a head.

    The columns of `query` and `key` are orthonormal; `values` descend. Signs are shared: turning a
    column of both round changes nothing.
    """

    query: Float[Tensor, "head affine direction"]
    values: Float[Tensor, "head direction"]
    key: Float[Tensor, "head affine direction"]


def query_key_factors(
    query_weight: Float[Tensor, "head width head_width"],
    query_bias: Float[Tensor, "head head_width"],
    key_weight: Float[Tensor, "head width head_width"],
    key_bias: Float[Tensor, "head head_width"],
) -> QueryKeyFactors:
    """W_A = [W_Q; b_Q] [W_K; b_K]ᵀ per head, (d+1)×(d+1) of rank at most d', by thin factors.

    With [W_Q; b_Q] = P A and [W_K; b_K] = R B, both thin, A Bᵀ is d'×d' and has the singular values
    of W_A; its singular vectors times P and R are those of W_A. Computed in float64.

    Returns:
        The d' directions that the head can use, in the number format of the weights. Their
        orthogonal complement has singular value 0 and no directions of its own.

    Source:
        yamamoto-2023, section 3.3.

    Differs:
        The paper writes W_Q and W_K without biases; here they are a last row for the constant 1.
    """
    queries, keys = (
        torch.linalg.qr(torch.cat([weight, bias.unsqueeze(1)], dim=1).double())
        for weight, bias in ((query_weight, query_bias), (key_weight, key_bias))
    )
    left, values, right = torch.linalg.svd(queries.R @ keys.R.mT)
    dtype = query_weight.dtype
    return QueryKeyFactors(
        query=(queries.Q @ left).to(dtype),
        values=values.to(dtype),
        key=(keys.Q @ right.mT).to(dtype),
    )
