"""Rotary positions: queries and keys turned by angles that depend on the token's place."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Rotary:
    """How a layer turns its queries and keys, so that scores depend on the distance of two tokens.

    Plane c is spanned by coordinates c and c + planes of a head; at place i it is turned by
    i · frequencies[c]. What lies beyond the first 2 · planes coordinates is not turned.

    `frequencies` are in radians per token; `scaling` is what the turned coordinates of queries and
    of keys are each multiplied by (YaRN's attention scaling), so that it counts twice in a score.
    """

    frequencies: Float[Tensor, " plane"]
    scaling: float = 1.0

    @property
    def planes(self) -> int:
        """How many planes of a head are turned."""
        return len(self.frequencies)

    def angles(
        self, n_tokens: int, like: Float[Tensor, "*any"], *, start: int = 0
    ) -> Float[Tensor, "token plane"]:
        """By how much each token is turned, in radians; the first token stands at place `start`."""
        places = torch.arange(start, start + n_tokens, device=like.device)
        return places[:, None] * self.frequencies.to(like)

    def turned(
        self, vectors: Float[Tensor, "*any token head_width"], *, start: int = 0
    ) -> Float[Tensor, "*any token head_width"]:
        """Queries or keys as they are compared; the first token stands at place `start`."""
        angles = self.angles(vectors.shape[-2], vectors, start=start)
        return _turned(vectors, angles, self.scaling)


@dataclass(frozen=True)
class PatchRotary:
    """The same by the rows and columns of patches; special tokens in front are not turned.

    No offset along the order of tokens says how two of them are turned against each other.
    """

    of_patches: Float[Tensor, "patch plane"]
    """By how much each patch is turned, in radians."""
    scaling: float = 1.0

    @property
    def planes(self) -> int:
        """How many planes of a head are turned."""
        return self.of_patches.shape[1]

    def angles(self, n_tokens: int, like: Float[Tensor, "*any"]) -> Float[Tensor, "token plane"]:
        """By how much each token is turned, in radians."""
        angles = self.of_patches.to(like)
        special = angles.new_zeros(n_tokens - len(angles), self.planes)
        return torch.cat([special, angles])

    def turned(
        self, vectors: Float[Tensor, "*any token head_width"]
    ) -> Float[Tensor, "*any token head_width"]:
        """Queries or keys as they are compared, of all tokens of an image."""
        return _turned(vectors, self.angles(vectors.shape[-2], vectors), self.scaling)


def _turned(vectors: Tensor, angles: Float[Tensor, "token plane"], scaling: float) -> Tensor:
    planes = angles.shape[1]
    cosine, sine = angles.cos() * scaling, angles.sin() * scaling
    real, imaginary = vectors[..., :planes], vectors[..., planes : 2 * planes]
    turned = real * cosine - imaginary * sine, imaginary * cosine + real * sine
    return torch.cat([*turned, vectors[..., 2 * planes :]], dim=-1)
