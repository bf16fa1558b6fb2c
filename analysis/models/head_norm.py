"""The root mean square norm that some families apply to queries and keys."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class HeadNormWeights:
    """z / √(mean(z²) + epsilon) ⊙ scale + shift, z being one head's query or key, or all heads'.

    The scale is one for all heads or one for each. The mean is over each head alone (Qwen 3, Gemma
    3), or over all heads of a token if `over_heads` (OLMo 2). Shared keys then count once for each
    head, which changes no mean since groups are equally large. If `is_centred`, the mean of z is
    taken away first (Cohere, Persimmon). Without a shift it is 0.
    """

    scale: Float[Tensor, "*head head_width"]
    epsilon: float
    over_heads: bool = False
    is_centred: bool = False
    shift: Float[Tensor, "*head head_width"] | None = None

    def normed(
        self, vectors: Float[Tensor, "*batch head token head_width"]
    ) -> Float[Tensor, "*batch head token head_width"]:
        """Queries or keys after their norm."""
        axes = (-3, -1) if self.over_heads else (-1,)
        if self.is_centred:
            vectors = vectors - vectors.mean(dim=axes, keepdim=True)
        square = vectors.square().mean(dim=axes, keepdim=True)
        normed = vectors * (square + self.epsilon).rsqrt() * self.scale[..., None, :]
        return normed if self.shift is None else normed + self.shift[..., None, :]
