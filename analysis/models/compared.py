"""Queries and keys as a layer compares them: after their norms, and turned to their places."""

from jaxtyping import Float
from torch import Tensor

from analysis.models.trace import LayerWeights


def compares_directions(weights: LayerWeights) -> bool:
    """Whether scores are a bilinear form of what attention reads, whose singular directions say
    what a head compares: neither norms nor turns stand between."""
    return weights.rotary is None and weights.query_norm is None and weights.key_norm is None


def compared(
    read: Float[Tensor, "*batch token width"], weights: LayerWeights
) -> tuple[
    Float[Tensor, "*batch head token head_width"], Float[Tensor, "*batch head token head_width"]
]:
    """What the layer's scores are products of, but for their scale, from what attention reads.

    A score is query · key · `weights.score_scale`; the first token stands at place 0.
    """
    sides = weights.queries(read), weights.keys(read)
    if weights.rotary is None:
        return sides
    queries, keys = map(weights.rotary.turned, sides)
    return queries, keys
