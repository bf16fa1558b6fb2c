"""Scale of scores, and terms that are added to them, where attention is a model's own code."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attended import Attended, of_every_head
from analysis.models.finding.calls import same
from analysis.models.offset_terms import OffsetTerms

_ROUND_OFF = 1e-5
"""Old code takes products of queries and keys in float32, whatever the number format."""


def with_scale(attended: Attended) -> Attended:
    """Return attention with the scale of its scores, and what else they have as its bias.

    Scores of a pair differ from text to text by nothing but the product of query and key, so that
    their differences give the scale.

    Raises:
        UnfitModel: if the rest differs from text to text.
    """
    if attended.scores is None:
        return attended
    tensors = {
        name: part.double() for name, part in vars(attended).items() if isinstance(part, Tensor)
    }
    attended = replace(attended, **tensors)
    keys = of_every_head(attended.key, attended.query.shape[1], axis=1)
    products, scores = attended.query @ keys.mT, tensors["scores"]
    sees = (attended.weights > 0).all(dim=0).all(dim=0)
    change, wanted = (of[1:, :, sees] - of[:1, :, sees] for of in (products, scores))
    scale = float((change * wanted).sum() / change.square().sum())
    rest = scores - scale * products
    allowed = _ROUND_OFF * (1 + float(scores[:, :, sees].abs().max()))
    if not (rest[1:, :, sees] - rest[:1, :, sees]).abs().max() <= allowed:
        raise UnfitModel(
            "Scores of attention are not queries · keys, scaled, and a term for each pair of "
            "places."
        )
    term = torch.where(sees, rest[:1], 0)
    bias = () if term.abs().max() < allowed else (term,)
    return replace(attended, scale=_rounded(scale, attended.query.shape[-1]), bias=bias)


def _rounded(scale: float, head_width: int) -> float:
    """Return a scale that configurations state exactly, if this one equals it to round-off."""
    exact = (1.0, head_width**-0.5, 1 / head_width)
    return next((known for known in exact if abs(scale - known) < _ROUND_OFF * known), scale)


def slopes_of(bias: Float[Tensor, "one head query key"], longest: int) -> OffsetTerms | None:
    """Return terms that grow in proportion to the offset of two tokens (ALiBi); None for others.

    A softmax does not see what all keys of a query share, so that the place of the key is as good
    as the offset.

    Args:
        longest: largest offset that is asked for, in tokens.
    """
    by_query = bias[0] - bias[0].diagonal(dim1=-2, dim2=-1)[..., None]
    n_tokens = bias.shape[-1]
    places = torch.arange(n_tokens, device=bias.device)
    offsets = (places - places[:, None]).tril()
    below = by_query.tril()
    slopes = (below * offsets).sum((-2, -1)) / offsets.square().sum()
    if not same(below, slopes[:, None, None] * offsets, _ROUND_OFF):
        return None
    every = torch.arange(-longest, longest + 1, device=bias.device)
    return OffsetTerms(every + longest, bias=slopes[:, None] * every)
