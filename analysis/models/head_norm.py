"""The root mean square norm that some families apply to queries and keys."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class HeadNormWeights:
    """z / √(mean(z²) + epsilon) ⊙ scale, z being one head's query or key, or those of all heads.

    The scale is one for all heads or one for each. The mean is over each head alone (Qwen 3, Gemma
    3), or over all heads of a token if `over_heads` (OLMo 2). Shared keys then count once for each
    head, which changes no mean since groups are equally large.
    """

    scale: Float[Tensor, "*head head_width"]
    epsilon: float
    over_heads: bool = False

    def normed(
        self, vectors: Float[Tensor, "*batch head token head_width"]
    ) -> Float[Tensor, "*batch head token head_width"]:
        """Queries or keys after their norm."""
        axes = (-3, -1) if self.over_heads else (-1,)
        square = vectors.square().mean(dim=axes, keepdim=True)
        return vectors * (square + self.epsilon).rsqrt() * self.scale[..., None, :]
