"""The router of a mixture of experts: the share of each hidden unit in a token's output."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Router:
    """A model's own router: the share of each expert, 0 for those that a token is not given to.

    The module returns shares and indices of the experts chosen for each token. Behind the hidden
    units of `n_experts` experts stand `n_shared` units of an expert that every token is given to:
    with share 1, or the sigmoid of what `shared_gate` returns. `given` are tensors that the module
    is given beside the vectors, such as a bias of each expert. If `reads_batches`, it is given the
    vectors of texts side by side, else of all tokens in one list.
    """

    module: Any  # of the library's routers, which no type tells apart
    n_experts: int
    n_shared: int = 0
    shared_gate: Any = None
    given: Mapping[str, Tensor] = field(default_factory=dict)
    reads_batches: bool = False

    @torch.no_grad()
    def shares(self, read: Float[Tensor, "*any width"]) -> Float[Tensor, "*any expert"]:
        """The factor of each expert's output, without the shared one; a constant to gradients."""
        weight = next(self.module.parameters())
        tokens = read.flatten(0, -2).to(weight.dtype)
        chosen = self.module(tokens[None] if self.reads_batches else tokens, **self.given)
        (index,) = (part for part in chosen if not part.is_floating_point())
        share = next(part for part in chosen[1:] if part.is_floating_point())
        every = read.new_zeros(len(tokens), self.n_experts)
        every = every.scatter(-1, index.flatten(0, -2), share.flatten(0, -2).to(read))
        return every.unflatten(0, read.shape[:-1])

    @torch.no_grad()
    def of_units(
        self, read: Float[Tensor, "*any width"], n_units: int
    ) -> Float[Tensor, "*any hidden"]:
        """The factor of each hidden unit."""
        share = self.shares(read)
        units = share.repeat_interleave((n_units - self.n_shared) // self.n_experts, dim=-1)
        shared = read.new_ones(*read.shape[:-1], 1)
        if self.shared_gate is not None:
            shared = self.shared_gate(read.to(self.shared_gate.weight.dtype)).sigmoid().to(read)
        return torch.cat([units, shared.expand(*read.shape[:-1], self.n_shared)], dim=-1)
