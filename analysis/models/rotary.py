"""Rotary positions: queries and keys turned by an angle that grows with the token's place."""

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

    def turned(
        self, vectors: Float[Tensor, "*any token head_width"], *, start: int = 0
    ) -> Float[Tensor, "*any token head_width"]:
        """Queries or keys as they are compared; the first token stands at place `start`."""
        planes, n_tokens = len(self.frequencies), vectors.shape[-2]
        places = torch.arange(start, start + n_tokens, device=vectors.device)
        angles = places[:, None] * self.frequencies.to(vectors)
        cosine, sine = angles.cos() * self.scaling, angles.sin() * self.scaling
        real, imaginary = vectors[..., :planes], vectors[..., planes : 2 * planes]
        turned = real * cosine - imaginary * sine, imaginary * cosine + real * sine
        return torch.cat([*turned, vectors[..., 2 * planes :]], dim=-1)
