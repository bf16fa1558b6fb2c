"""Norms of the input vectors of a layer."""

import torch
from jaxtyping import Float
from torch import Tensor


def input_norms(layer_input: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token"]:
    """‖x‖ of every token as the layer reads it.

    Returns:
        Euclidean norms in units of the residual stream.

    Source:
        kobayashi-2020, section 5.2, table 2.
    """
    return torch.linalg.vector_norm(layer_input, dim=-1)
