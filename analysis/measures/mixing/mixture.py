"""Vectors of pairs as mixtures of a few terms per token, and how much of them is context."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.linear_layer import LinearNorm, Step
from analysis.models.trace import LayerTrace


@dataclass(frozen=True)
class Scope:
    """Norms per pair, and the vectors Σ_j F_i(x_j) and F_i(x_i) of every query."""

    map: Float[Tensor, "query key"]
    sums: Float[Tensor, "query width"]
    own: Float[Tensor, "key width"]

    def ratio(self) -> Float[Tensor, " query"]:
        """r_i = ‖Σ_{j≠i} F_i(x_j)‖ / (‖Σ_{j≠i} F_i(x_j)‖ + ‖F_i(x_i)‖)."""
        context = (self.sums - self.own).norm(dim=-1)
        return context / (context + self.own.norm(dim=-1))


@dataclass(frozen=True)
class PairVectors:
    """Vectors F_i(x_j) of neighbouring keys, written out: those that a gate of the query scales.

    `first` is the position of the first key.
    """

    shares: Float[Tensor, "key query width"]
    """The vectors, as shares of unit vectors."""
    first: int = 0

    @property
    def positions(self) -> slice:
        """Positions of the keys in the sequence."""
        return slice(self.first, self.first + len(self.shares))

    def with_own(self, vectors: Float[Tensor, "query width"]) -> "PairVectors":
        """Add a vector of each token to the token's contribution to itself."""
        shares = self.shares.clone()
        shares[:, self.positions].diagonal().add_(vectors[self.positions].T)
        return PairVectors(shares, self.first)

    def after(self, step: Step, tokens: Float[Tensor, "query width"]) -> "PairVectors":
        """Apply a step of the layer; the residual is the tokens themselves."""
        if isinstance(step, LinearNorm):
            return PairVectors(step.linear(self.shares), self.first)
        return self.with_own(tokens)

    def scope(self) -> Scope:
        """Norms of all pairs, the part of these keys in every query, and their own vectors."""
        own = self.shares[:, self.positions].diagonal().T
        return Scope(self.norms(), self.shares.sum(dim=0), own)

    def norms(self) -> Float[Tensor, "query key"]:
        """‖F_i(x_j)‖."""
        return self.shares.norm(dim=-1).T

    def add_to(self, parts: Tensor, keys: slice, queries: slice) -> None:
        """Add the vectors of some of these keys to other vectors of them, in place."""
        parts.add_(self.shares[keys, queries])


@dataclass(frozen=True)
class Mixture:
    """Vectors F_i(x_j) = Σ_t shares[j, i, t] · terms[j, t] of neighbouring keys.

    `first` is the position of the first key.
    """

    terms: Float[Tensor, "key term width"]
    shares: Float[Tensor, "key query term"]
    first: int = 0

    @property
    def positions(self) -> slice:
        """Positions of the keys in the sequence."""
        return slice(self.first, self.first + len(self.terms))

    def with_own(self, vectors: Float[Tensor, "query width"]) -> "Mixture":
        """Add a vector of each token to the token's contribution to itself."""
        itself = self.shares.new_zeros(*self.shares.shape[:2], 1)
        itself[:, self.positions].diagonal().fill_(1)
        own = vectors[self.positions].unsqueeze(1)
        return Mixture(
            torch.cat([self.terms, own], dim=1),
            torch.cat([self.shares, itself], dim=-1),
            self.first,
        )

    def normed(self, given: LinearNorm) -> "Mixture":
        """Apply a normalisation without its shift."""
        shares = self.shares / given.deviation
        return Mixture(given.norm.linear(self.terms), shares, self.first)

    def after(self, step: Step, tokens: Float[Tensor, "query width"]) -> "Mixture":
        """Apply a step of the layer; the residual is the tokens themselves."""
        return self.normed(step) if isinstance(step, LinearNorm) else self.with_own(tokens)

    def scope(self) -> Scope:
        """Norms of all pairs, the part of these keys in every query, and their own vectors."""
        sums = self.shares.transpose(0, 1).flatten(1) @ self.terms.flatten(0, 1)
        own = self.shares[:, self.positions].diagonal().T.unsqueeze(1) @ self.terms
        return Scope(self.norms(), sums, own.squeeze(1))

    def norms(self) -> Float[Tensor, "query key"]:
        """‖F_i(x_j)‖² = Σ_tu shares_t shares_u ⟨term_t, term_u⟩: no vector per pair is needed."""
        products = self.terms @ self.terms.mT
        squares = ((self.shares @ products) * self.shares).sum(dim=-1)
        return squares.clamp_min(0).sqrt().T

    def add_to(self, parts: Tensor, keys: slice, queries: slice) -> None:
        """Add the vectors of some of these keys to other vectors of them, in place."""
        parts.baddbmm_(self.shares[keys, queries], self.terms[keys])


Sent = Mixture | PairVectors
"""Vectors that tokens send to each other, by shares of their own vectors or written out."""


def attended(layer: LayerTrace, keys: slice = slice(None)) -> Sent:
    """Attention output as a mixture: α and f(x_j) of every head; with a gate its vectors.

    Args:
        layer: a trace of a single sequence without padding.

    Source:
        kobayashi-2020, section 3.2, eq. 7.
    """
    if (gate := layer.gate) is not None:
        weights, values = layer.attention[0][..., keys].permute(2, 1, 0), layer.values[0][:, keys]
        mixed = weights[..., None] * values.transpose(0, 1)[:, None] * gate[0].transpose(0, 1)
        sent = mixed.flatten(2) @ layer.weights.output_weight.flatten(0, 1)
        return PairVectors(sent, keys.start or 0)
    transformed = layer.values[0][:, keys] @ layer.weights.output_weight
    shares = layer.attention[0][..., keys].permute(2, 1, 0).contiguous()
    return Mixture(transformed.transpose(0, 1), shares, keys.start or 0)


def ratio_moments(
    ratios: Float[np.ndarray, "scope token"],
) -> tuple[Float[np.ndarray, " scope"], ...]:
    """Mean, sum of squared deviations, minimum and maximum of some tokens' ratios.

    Those of parts give those of the whole: means by their weights, and the squared deviations of a
    part grow by n · (its mean − the whole's mean)².

    Source:
        kobayashi-2021, section 4.2: the values that its table 2 and figure 3 average.
    """
    exact = ratios.astype(np.float64)
    mean = exact.mean(axis=1)
    return mean, ((exact - mean[:, None]) ** 2).sum(axis=1), exact.min(axis=1), exact.max(axis=1)


def ratios_of_layer(
    ratios: Float[np.ndarray, "scope token"], given: Float[np.ndarray, " token"] | float = 1.0
) -> Float[np.ndarray, "value token"]:
    """The ratios of a layer's scopes; the one of weights with residual follows that of the weights.

    The residual counts as much as a whole row of attention: with s = Σ_j ᾱ_ij the off-diagonal part
    of ᾱ + I is (s − ᾱ_ii) / (s + 1) of a row, half the ratio of the weights where s is 1.

    Args:
        given: s, less than 1 where a share of attention goes to no token.

    Returns:
        In the order of `LayerOrder.of_ratios`.

    Source:
        kobayashi-2021, table 2 and figure 3: AttnRes-W, after abnar-2020.
    """
    return np.insert(ratios, 1, ratios[0] * (given / (given + 1)), axis=0)
