"""Rotary positions: queries and keys rotated by angles that depend on the token's position."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Rotary:
    """Rotation of a layer's queries and keys, so that scores depend on the distance of two tokens.

    Plane c is spanned by coordinates c and c + planes of a head; at position i it is rotated by
    i · frequencies[c]. Coordinates beyond the first 2 · planes are not rotated.

    `frequencies` are in radians per token. `scaling` multiplies the rotated coordinates of queries
    and of keys (YaRN's attention scaling), so that it counts twice in a score.
    """

    frequencies: Float[Tensor, " plane"]
    scaling: float = 1.0

    @property
    def planes(self) -> int:
        """Return the number of rotated planes of a head."""
        return len(self.frequencies)

    def angles(
        self, n_tokens: int, like: Float[Tensor, "*any"], *, start: int = 0
    ) -> Float[Tensor, "token plane"]:
        """Rotation angle of each token in radians; the first token stands at position `start`."""
        places = torch.arange(start, start + n_tokens, device=like.device)
        return places[:, None] * self.frequencies.to(like)

    def turned(
        self, vectors: Float[Tensor, "*any token head_width"], *, start: int = 0
    ) -> Float[Tensor, "*any token head_width"]:
        """Queries or keys after rotation; the first token stands at position `start`."""
        angles = self.angles(vectors.shape[-2], vectors, start=start)
        return _turned(vectors, angles, self.scaling)


@dataclass(frozen=True)
class PatchRotary:
    """Rotation of queries and keys by rows and columns of patches; none for special tokens.

    The angle between two tokens does not follow from their offset along the order of tokens.
    """

    of_patches: Float[Tensor, "patch plane"]
    """Rotation angle of each patch, in radians."""
    scaling: float = 1.0

    @property
    def planes(self) -> int:
        """Return the number of rotated planes of a head."""
        return self.of_patches.shape[1]

    def angles(self, n_tokens: int, like: Float[Tensor, "*any"]) -> Float[Tensor, "token plane"]:
        """Rotation angle of each token, in radians."""
        angles = self.of_patches.to(like)
        special = angles.new_zeros(n_tokens - len(angles), self.planes)
        return torch.cat([special, angles])

    def turned(
        self, vectors: Float[Tensor, "*any token head_width"]
    ) -> Float[Tensor, "*any token head_width"]:
        """Queries or keys of all tokens of an image, after rotation."""
        return _turned(vectors, self.angles(vectors.shape[-2], vectors), self.scaling)


def _turned(vectors: Tensor, angles: Float[Tensor, "token plane"], scaling: float) -> Tensor:
    planes = angles.shape[1]
    cosine, sine = angles.cos() * scaling, angles.sin() * scaling
    real, imaginary = vectors[..., :planes], vectors[..., planes : 2 * planes]
    turned = real * cosine - imaginary * sine, imaginary * cosine + real * sine
    return torch.cat([*turned, vectors[..., 2 * planes :]], dim=-1)
