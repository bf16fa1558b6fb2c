"""The router of a mixture of experts: the share of each expert in a token's output."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Router:
    """A softmax over all experts, restricted to the `n_used` likeliest.

    Their shares are divided by their sum if `is_normalised`.
    """

    weight: Float[Tensor, "width expert"]
    n_used: int
    is_normalised: bool

    def shares(self, read: Float[Tensor, "*any width"]) -> Float[Tensor, "*any expert"]:
        """The factor of each expert's output, 0 for those that a token is not given to."""
        likely = (read @ self.weight).softmax(dim=-1)
        top, experts = likely.topk(self.n_used, dim=-1)
        if self.is_normalised:
            top = top / top.sum(dim=-1, keepdim=True)
        return torch.zeros_like(likely).scatter(-1, experts, top)
