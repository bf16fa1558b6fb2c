"""Normalisations of the residual stream: a linear map over a deviation of the whole vector."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Norm(Protocol):
    """A normalisation linear(z) / deviation(z) + shift, its linear part valid for summands of z."""

    @property
    def shift(self) -> Float[Tensor, "*width"]: ...

    def linear(self, parts: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]: ...

    def deviation(self, vectors: Float[Tensor, "*any width"]) -> Float[Tensor, "*any one"]: ...


def normed(norm: Norm, vectors: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
    """Whole vectors after their normalisation."""
    return norm.linear(vectors) / norm.deviation(vectors) + norm.shift


@dataclass(frozen=True)
class LayerNormWeights:
    """Layer normalisation: (z − mean(z)) / √(variance(z) + epsilon) ⊙ scale + shift."""

    scale: Float[Tensor, " width"]
    shift: Float[Tensor, " width"]
    epsilon: float

    def linear(self, parts: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
        """(z − mean(z)) ⊙ scale."""
        return (parts - parts.mean(dim=-1, keepdim=True)) * self.scale

    def deviation(self, vectors: Float[Tensor, "*any width"]) -> Float[Tensor, "*any one"]:
        """√(variance(z) + epsilon)."""
        return (vectors.var(dim=-1, unbiased=False, keepdim=True) + self.epsilon).sqrt()


@dataclass(frozen=True)
class RootMeanSquareWeights:
    """Root mean square normalisation: z / √(mean(z²) + epsilon) ⊙ scale; nothing is centred."""

    scale: Float[Tensor, " width"]
    epsilon: float

    @property
    def shift(self) -> Float[Tensor, " width"]:
        return torch.zeros_like(self.scale)

    def linear(self, parts: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
        """z ⊙ scale."""
        return parts * self.scale

    def deviation(self, vectors: Float[Tensor, "*any width"]) -> Float[Tensor, "*any one"]:
        """√(mean(z²) + epsilon)."""
        return (vectors.square().mean(dim=-1, keepdim=True) + self.epsilon).sqrt()


@dataclass(frozen=True)
class NoNorm:
    """Identity, for a layer without the normalisation that its order has."""

    shift: Float[Tensor, " width"]
    """Zeros."""

    def linear(self, parts: Float[Tensor, "*any width"]) -> Float[Tensor, "*any width"]:
        """z."""
        return parts

    def deviation(self, vectors: Float[Tensor, "*any width"]) -> Float[Tensor, "*any one"]:
        """1."""
        return torch.ones_like(vectors[..., :1])
