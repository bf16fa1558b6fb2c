"""Share of the variance of the learned position embeddings in few dimensions."""

import torch
from jaxtyping import Float
from torch import Tensor


def position_variance(embedding: Float[Tensor, "position width"]) -> Float[Tensor, " rank"]:
    """Share of the variance over positions along every principal component, largest first.

    λ_c = σ_c² / Σ σ², σ the singular values of the embeddings minus their mean. At most one
    component fewer than positions can differ from 0.

    Returns:
        Shares that add up to 1, in float64; none where all positions have the same vector.

    Source:
        yamamoto-2023, appendix B, figure 9.
    """
    table = embedding.double()
    centred = table - table.mean(dim=0)
    variances = torch.linalg.svdvals(centred)[: len(table) - 1].square()
    if variances.sum() <= torch.finfo(torch.float64).eps * table.square().sum():
        return variances[:0]
    return variances / variances.sum()
