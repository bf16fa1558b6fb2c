"""Latents: few normalised coordinates that queries, keys or values are made of."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from analysis.models.norm import Norm, normed


@dataclass(frozen=True)
class Latent:
    """norm(x @ weight + bias), of which queries, or keys and values, are made by a matrix."""

    weight: Float[Tensor, "width latent"]
    bias: Float[Tensor, " latent"]
    norm: Norm

    def before_norm(self, read: Float[Tensor, "*any width"]) -> Float[Tensor, "*any latent"]:
        """x @ weight + bias."""
        return read @ self.weight + self.bias


def latent_of(
    latent: Latent | None, read: Float[Tensor, "*any width"]
) -> Float[Tensor, "*any input"]:
    """Return the latent of what attention reads; that itself without one."""
    return read if latent is None else normed(latent.norm, latent.before_norm(read))
