"""Vectors of pairs as mixtures of a few terms per token, not yet multiplied out."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.linear_layer import LinearNorm
from analysis.models.trace import LayerTrace


@dataclass(frozen=True)
class Scope:
    """Norms per pair, and the vectors Σ_j F_i(x_j) and F_i(x_i) of every query."""

    map: Float[Tensor, "query key"]
    sums: Float[Tensor, "query width"]
    own: Float[Tensor, "query width"]

    def ratio(self) -> Float[Tensor, " query"]:
        """r_i = ‖Σ_{j≠i} F_i(x_j)‖ / (‖Σ_{j≠i} F_i(x_j)‖ + ‖F_i(x_i)‖)."""
        context = (self.sums - self.own).norm(dim=-1)
        return context / (context + self.own.norm(dim=-1))


@dataclass(frozen=True)
class Mixture:
    """Vectors F_i(x_j) = Σ_t shares[j, i, t] · terms[j, t]."""

    terms: Float[Tensor, "key term width"]
    shares: Float[Tensor, "key query term"]

    def with_own(self, vectors: Float[Tensor, "key width"]) -> "Mixture":
        """Add a vector of each token to the token's contribution to itself."""
        itself = torch.eye(len(vectors), dtype=self.shares.dtype, device=self.shares.device)
        return Mixture(
            torch.cat([self.terms, vectors.unsqueeze(1)], dim=1),
            torch.cat([self.shares, itself.unsqueeze(-1)], dim=-1),
        )

    def normed(self, given: LinearNorm) -> "Mixture":
        """Apply a normalisation without its shift."""
        return Mixture(given.norm.linear(self.terms), self.shares / given.deviation)

    def scope(self) -> Scope:
        """Norms of all pairs at this scope, with the sum and the own vector of every query."""
        by_query = self.shares.transpose(0, 1)
        sums = by_query.flatten(1) @ self.terms.flatten(0, 1)
        own = (by_query.diagonal().T.unsqueeze(1) @ self.terms).squeeze(1)
        return Scope(self.norms(), sums, own)

    def norms(self) -> Float[Tensor, "query key"]:
        """‖F_i(x_j)‖² = Σ_tu shares_t shares_u ⟨term_t, term_u⟩: no vector per pair is needed."""
        products = self.terms @ self.terms.mT
        squares = ((self.shares @ products) * self.shares).sum(dim=-1)
        return squares.clamp_min(0).sqrt().T


def attended(layer: LayerTrace) -> Mixture:
    """Attention output as a mixture: α and f(x_j) of every head.

    Args:
        layer: a trace of a single sequence without padding.

    Source:
        kobayashi-2020, section 3.2, eq. 7.
    """
    transformed = layer.values[0] @ layer.weights.output_weight
    return Mixture(transformed.transpose(0, 1), layer.attention[0].permute(2, 1, 0).contiguous())
