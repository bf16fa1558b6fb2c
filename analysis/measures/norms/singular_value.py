"""Singular values of a head's transformation f."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.models.trace import LayerWeights


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
    return _of_product(_value_factor(weights), _output_factor(weights))


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
    return _of_product(weights.value_weight.double(), weights.output_weight.double().mT)


def _of_product(left: Tensor, right: Tensor) -> Tensor:
    """Singular values of A Bᵀ by way of thin factors."""
    factors = [torch.linalg.qr(side, mode="r")[1] for side in (left, right)]
    return torch.linalg.svdvals(factors[0] @ factors[1].mT)


def _value_factor(weights: LayerWeights) -> Tensor:
    """[[W_V, 0], [b_V, 1]] per head: (d+1)×(d'+1)."""
    above = torch.nn.functional.pad(weights.value_weight.double(), (0, 1))
    below = torch.nn.functional.pad(weights.value_bias.double(), (0, 1), value=1.0)
    return torch.cat([above, below.unsqueeze(1)], dim=1)


def _output_factor(weights: LayerWeights) -> Tensor:
    """The transpose of [[W_O, 0], [0, 1]] per head: (d+1)×(d'+1)."""
    padded = torch.nn.functional.pad(weights.output_weight.double(), (0, 1, 0, 1))
    padded[:, -1, -1] = 1.0
    return padded.mT
