"""Gates after attention: factors of each query by which it scales what its heads mix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "softplus": functional.softplus,
}


@dataclass(frozen=True)
class QueryGate:
    """activation(x @ weight + bias) of the query's token, for each coordinate of a head or for all.

    Given the query it is a constant factor, so that f of a pair is (gate ⊙ value) @ output_weight.
    """

    weight: Float[Tensor, "head width gate_width"]
    bias: Float[Tensor, "head gate_width"]
    activation: str

    def factors(
        self, read: Float[Tensor, "*batch query width"]
    ) -> Float[Tensor, "*batch head query gate_width"]:
        """Factors of every query from the input of attention."""
        made = read.unsqueeze(-3) @ self.weight + self.bias.unsqueeze(-2)
        return ACTIVATIONS[self.activation](made)
