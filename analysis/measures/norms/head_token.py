"""Attention received by each token and norm of its transformed vector, by head."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def value_norms(
    values: Float[Tensor, "batch head key head_width"],
    factor: Float[Tensor, "head head_width head_width"],
) -> Float[Tensor, "batch head key"]:
    """‖f(x_j)‖ of every token and head, from its values and `LayerWeights.output_factor`.

    Returns:
        Euclidean norms in units of the residual stream, never negative.

    Source:
        kobayashi-2020, section 3.2, eq. 8.

    Differs:
        The output bias is left out, as in the paper: it belongs to the block, not to any token.
    """
    return torch.linalg.vector_norm(values @ factor, dim=-1)


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
