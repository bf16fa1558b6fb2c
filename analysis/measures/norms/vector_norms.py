"""Norms of transformed vectors, the attention they are weighed by, and singular values of f."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.models.trace import LayerWeights


def value_norms(
    values: Float[Tensor, "batch head key head_width"],
    factor: Float[Tensor, "head head_width head_width"],
    gate: Float[Tensor, "batch head query gate_width"] | None = None,
) -> Float[Tensor, "batch head *query key"]:
    """‖f(x_j)‖ of every token and head, from its values and `LayerWeights.output_factor`.

    With a gate it is ‖f_i(x_j)‖ of every pair: values are scaled by the factors of the query.

    Returns:
        Euclidean norms in units of the residual stream, never negative.

    Source:
        kobayashi-2020, section 3.2, eq. 8.

    Differs:
        The output bias is left out, as in the paper: it belongs to the block, not to any token. The
        paper's models have no gates; ours are held as attention weights are.
    """
    if gate is None:
        return torch.linalg.vector_norm(values @ factor, dim=-1)
    scaled = (values * of_query.unsqueeze(2) for of_query in gate.unbind(2))
    return torch.stack([value_norms(of_query, factor) for of_query in scaled], dim=2)


def attention_received(
    attention: Float[Tensor, "batch head query key"], is_token: Bool[Tensor, "batch query"]
) -> Float[Tensor, "batch head key"]:
    """Attention weight that each token receives, summed over the real tokens that attend.

    ‖α f(x)‖ = α ‖f(x)‖, so this sum times ‖f(x_j)‖ is the sum of the weighted norms: no tensor of
    vectors per pair is ever needed.

    Returns:
        Sums between 0 and the number of real tokens n; over the tokens of a sequence they add to n.

    Source:
        kobayashi-2020, section 5.4, the sums of figure 5.
    """
    queries = is_token.to(attention.dtype)[:, None, None, :]
    return (queries @ attention).squeeze(2)


def norm_shares_received(
    attention: Float[Tensor, "batch head query key"],
    value_norms: Float[Tensor, "batch head key"],
    is_token: Bool[Tensor, "batch query"],
) -> Float[Tensor, "batch head key"]:
    """Share of ‖α f(x)‖ that each token brings, summed over the real tokens that attend.

    With every query's row scaled to a sum of 1, token j has Σ_i α_ij ‖f(x_j)‖ / Σ_k α_ik ‖f(x_k)‖.

    Returns:
        Sums in float32 or finer, between 0 and the number of real tokens n; over the tokens of a
        sequence they add to n. A query whose norms are all 0 keeps its weights, as in
        `norm_weighted_attention`.

    Source:
        kobayashi-2020, section 3.2, eq. 8; its conclusion proposes to repeat earlier analyses so.

    Differs:
        The paper sums norms over queries before it compares tokens, so that queries with long
        vectors count more. Here all queries count alike, as they do for attention.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    weights, norms = attention.to(exact), value_norms.to(exact)
    total = (weights @ norms[..., None]).mT
    attends = is_token[:, None, None]
    scaled = torch.where((total > 0) & attends, 1 / total, 0.0)
    kept = ((total == 0) & attends).to(exact)
    return (scaled @ weights).squeeze(2) * norms + (kept @ weights).squeeze(2)


def norm_weighted_attention(
    attention: Float[Tensor, "*any query key"], norms: Float[Tensor, "*any #query key"]
) -> Float[Tensor, "*any query key"]:
    """‖α_ij f(x_j)‖ / Σ_k ‖α_ik f(x_k)‖, which is α where all ‖f(x)‖ are equal.

    The scale of a head's vectors as a whole cancels. A row of zero norms (a pruned head) keeps its
    weights: the limit of equal norms that shrink to 0.

    Args:
        norms: ‖f(x)‖ of every token and head, the same for all queries or of each pair.

    Returns:
        Shares in float32 or finer; rows sum to 1 where those of `attention` do not sum to 0.

    Source:
        kobayashi-2020, section 3.2, eq. 8; its conclusion proposes to repeat earlier analyses so.

    Differs:
        The paper never scales rows: entropies and divergences need distributions.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    weights = attention.to(exact)
    norms = weights * norms.to(exact)
    total = norms.sum(dim=-1, keepdim=True)
    norms /= total.where(total > 0, 1.0)
    return norms if (total > 0).all() else torch.where(total > 0, norms, weights)


def affine_singular_values(weights: LayerWeights) -> Float[Tensor, "head rank"]:
    """Singular values of each head's f, taken as a linear map on [x 1].

    f̃ = [[W_V, 0], [b_V, 1]] · [[W_O, 0], [0, 1]] is (d+1)×(d+1) of rank at most d'+1. With thin
    factors A = Q_A R_A and Bᵀ = Q_B R_B, the values of AB are those of R_A R_Bᵀ, which is small.

    Returns:
        The d'+1 values that can differ from 0, descending, in float64; the other d−d' are exactly 0
        and left out.

    Source:
        kobayashi-2020, section 5.2, eq. 9 to 11 and figure 2.
    """
    pad = torch.nn.functional.pad
    bias = pad(weights.value_bias.double(), (0, 1), value=1.0).unsqueeze(1)
    left = torch.cat([pad(weights.value_weight.double(), (0, 1)), bias], dim=1)
    right = pad(weights.output_weight.double(), (0, 1, 0, 1))
    right[:, -1, -1] = 1.0
    return _singular_values(left, right)


def linear_singular_values(weights: LayerWeights) -> Float[Tensor, "head rank"]:
    """Singular values of each head's W_V W_O: the linear part of f.

    Returns:
        The d' values that can differ from 0, descending, in float64.

    Source:
        kobayashi-2020, section 5.2.

    Differs:
        The paper takes the affine map on [x 1] alone, in which the constant coordinate and b_V are
        a direction like any other and can change the largest value and the smallest.
    """
    return _singular_values(weights.value_weight.double(), weights.output_weight.double())


def _singular_values(left: Tensor, right: Tensor) -> Tensor:
    """Singular values of the product of a tall matrix and a wide one, by way of thin factors."""
    factors = [torch.linalg.qr(side, mode="r")[1] for side in (left, right.mT)]
    return torch.linalg.svdvals(factors[0] @ factors[1].mT)
