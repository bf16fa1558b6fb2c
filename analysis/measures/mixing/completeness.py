"""Errors of the sum of a layer's parts against the model's own output."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.error_limits import LIMITS
from analysis.models.trace import LayerTrace


def token_errors(
    output: Float[Tensor, "*any query width"],
    parts: Sequence[Float[Tensor, "*any query width"] | Float[Tensor, " width"]],
    against: Sequence[Float[Tensor, "*any query width"]],
    dtype: torch.dtype,
) -> Float[Tensor, "*any query"]:
    """Relative error of each token's sum of parts, the largest over several reference vectors.

    ‖missed ⊘ unit‖ / ‖size ⊘ unit‖ with missed = output − Σ parts. The size of a coordinate is that
    of the reference vector, but at least the smallest size visible after rounding. Its unit is its
    largest size in the sequence, so that a massive activation hides no other coordinate.

    Args:
        parts: summands, subtracted in this order, the unchanged input first; a later one may be a
            vector that all tokens share.
        against: reference vectors: the output, and what is added to make it.
        dtype: the number format of the model's arithmetic.

    Returns:
        Errors without unit, 0 where nothing is missed; NaN if not computable.

    Source:
        kobayashi-2020, section 3.2, eq. 7: the sum; the reference vectors are ours.
    """
    first, *others = parts
    missed, least = output - first, first.abs()
    for part in others:
        missed -= part
        least += part.abs()
    least *= visible_share(dtype)
    smallest = torch.finfo(output.dtype).tiny
    errors = []
    for vectors in against:
        size = torch.maximum(vectors.abs(), least)
        unit = size.amax(dim=-2, keepdim=True).clamp_min_(smallest)
        length = (size / unit).norm(dim=-1).clamp_min_(smallest)
        errors.append((missed / unit).norm(dim=-1) / length)
    return torch.stack(errors).amax(dim=0)


def visible_share(dtype: torch.dtype) -> float:
    """Return the smallest share of a sum whose relative error at the limit exceeds rounding.

    Adding numbers up rounds away up to ε of them: of a share s of them this is a relative error of
    ε / s, which is at the limit where s = ε / limit.

    Source:
        goldberg-1991, section 1.2.
    """
    limit = LIMITS.get(str(dtype).removeprefix("torch."), LIMITS["float32"])
    return torch.finfo(dtype).eps / limit


def attention_block_errors(
    layer: LayerTrace, is_token: Bool[Tensor, "batch query"], dtype: torch.dtype | None = None
) -> Float[Tensor, "batch query"]:
    """Relative error of Σ_h Σ_j α_ij f(x_j) + b_O against the attention block's own output.

    Args:
        dtype: the number format of the model's arithmetic; that of the trace if None.

    Returns:
        Relative errors, 0 for padding; rounding leaves about 1e-7 in float32.

    Source:
        kobayashi-2020, section 3.2, eq. 7.
    """
    weights = layer.weights
    sent = layer.mixed.transpose(1, 2).flatten(2) @ weights.output_weight.flatten(0, 1)
    errors = torch.zeros_like(sent[..., 0])
    for row, n_tokens in enumerate(is_token.sum(dim=1).tolist()):  # one sequence fits the cache
        output = layer.attention_output[row, :n_tokens]
        parts = (sent[row, :n_tokens], weights.output_bias)
        errors[row, :n_tokens] = token_errors(output, parts, [output], dtype or output.dtype)
    return errors


def layer_errors(
    layer: LayerTrace,
    sent: Float[Tensor, "query width"],
    bias: Float[Tensor, "query width"],
    dtype: torch.dtype | None = None,
) -> Float[Tensor, " query"]:
    """Relative error of a whole layer's sum of parts, against its output and against its update.

    Args:
        layer: a trace of a single sequence without padding.
        sent: sum of all tokens' contributions to a query; without x_i if the layer adds to x_i.
        bias: contribution of biases, which belongs to no token.
        dtype: the number format of the model's arithmetic; that of the trace if None.

    Returns:
        Relative errors; rounding leaves about 1e-6 in float32, and up to the limit where the update
        is barely a visible share of the stream.

    Source:
        kobayashi-2024, section 4.
    """
    before, output = layer.input[0], layer.output[0]
    parts = (before, sent, bias) if layer.weights.order.keeps_stream else (sent, bias)
    return token_errors(output, parts, (output, output - before), dtype or output.dtype)


def worst_token(errors: Float[Tensor, " query"]) -> tuple[float, int, float]:
    """Return the largest error, its position, and the error that 99% of the tokens do not exceed.

    An error that is no number is the largest.

    Source:
        kobayashi-2020, section 3.2, eq. 7.
    """
    ordered, positions = errors.cpu().sort()
    place = math.ceil(0.99 * len(ordered)) - 1
    return ordered[-1].item(), int(positions[-1]), ordered[place].item()


def attention_sum_error(
    attention: Float[Tensor, "batch head query key"],
    is_token: Bool[Tensor, "batch query"],
    *,
    has_sink: bool = False,
) -> Float[Tensor, " batch"]:
    """Return the largest distance from 1 of a real token's attention, summed over the real tokens.

    Args:
        has_sink: whether a share goes to no token; then what exceeds 1, or goes to padding, counts.

    Returns:
        Absolute errors; attention that leaks to padding shows here.

    Source:
        kobayashi-2020, section 3.1, eq. 2.
    """
    real = is_token.to(attention.dtype)
    spread = (attention.flatten(1, 2) @ real.unsqueeze(-1)).unflatten(1, attention.shape[1:3])
    error = spread.squeeze(-1) - 1
    if has_sink:
        error = torch.maximum(error, attention.sum(dim=-1) - spread.squeeze(-1)).clamp(min=0)
    return (error.abs() * real[:, None, :]).amax(dim=(1, 2))
