"""Proof that the parts of a layer add up to what the model computed."""

from jaxtyping import Bool, Float
from torch import Tensor

from analysis.models.trace import LayerTrace


def attention_block_error(
    layer: LayerTrace, is_token: Bool[Tensor, "batch query"]
) -> Float[Tensor, " batch"]:
    """Worst difference between the attention block and the sum of its parts.

    max |Σ_h Σ_j α_ij f(x_j) + b_O − y_i| / max |y_i| over the real tokens and the coordinates of
    each sequence, y being the model's own output of the block.

    Returns:
        Relative errors; rounding leaves about 1e-6 in float32, and a misread model about 1.

    Source:
        kobayashi-2020, section 3.2, eq. 7.
    """
    mixed = (layer.attention @ layer.values).transpose(1, 2).flatten(2)
    rebuilt = mixed @ layer.weights.output_weight.flatten(0, 1) + layer.weights.output_bias
    missed = (rebuilt - layer.attention_output).abs_().amax(dim=-1)
    largest = layer.attention_output.abs().amax(dim=-1)
    return (missed * is_token).amax(dim=-1) / (largest * is_token).amax(dim=-1)


def attention_sum_error(
    attention: Float[Tensor, "batch head query key"], is_token: Bool[Tensor, "batch query"]
) -> Float[Tensor, " batch"]:
    """Worst distance from 1 of the attention that a real token spreads over the real tokens.

    Returns:
        Absolute errors; attention that leaks to padding shows here.

    Source:
        kobayashi-2020, section 3.1, eq. 2.
    """
    real = is_token.to(attention.dtype)
    spread = (attention.flatten(1, 2) @ real.unsqueeze(-1)).unflatten(1, attention.shape[1:3])
    return ((spread.squeeze(-1) - 1).abs() * real[:, None, :]).amax(dim=(1, 2))
