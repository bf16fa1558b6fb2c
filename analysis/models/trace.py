"""What every model family is reduced to before any measure sees it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Model = Any  # a torch module, whose submodules no type checker knows by name


@dataclass(frozen=True)
class LayerWeights:
    """The value path of one layer's attention, cut into heads; the same for every input.

    f(x) = (x @ value_weight + value_bias) @ output_weight, per head; the output bias belongs to the
    block and to no token.
    """

    value_weight: Float[Tensor, "head width head_width"]
    value_bias: Float[Tensor, "head head_width"]
    output_weight: Float[Tensor, "head head_width width"]
    output_bias: Float[Tensor, " width"]

    @cached_property
    def output_factor(self) -> Float[Tensor, "head head_width head_width"]:
        """Per head a small square matrix that lengthens every value as the output projection does.

        With W_Oᵀ = QR, ‖v W_O‖ = ‖v Rᵀ‖ for every v. Computed in float64, once per model.
        """
        _, triangular = torch.linalg.qr(self.output_weight.double().mT, mode="r")
        return triangular.mT.to(self.output_weight.dtype)


@dataclass(frozen=True)
class LayerTrace:
    """One layer of one forward pass, in the shapes that all measures share."""

    weights: LayerWeights
    input: Float[Tensor, "batch token width"]
    attention: Float[Tensor, "batch head query key"]
    values: Float[Tensor, "batch head key head_width"]
    attention_output: Float[Tensor, "batch query width"]


@dataclass(frozen=True)
class Trace:
    """One forward pass: its layers from the first to the last, and which tokens are not padding."""

    layers: tuple[LayerTrace, ...]
    is_token: Bool[Tensor, "batch token"]
