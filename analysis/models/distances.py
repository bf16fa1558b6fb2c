"""Terms of the distance between two tokens that a model adds to its scores."""

from inspect import signature

import torch
from torch import Tensor, nn

from analysis.errors import UnfitModel
from analysis.models.finding.find import FoundLayer
from analysis.models.finding.terms import slopes_of
from analysis.models.offset_terms import OffsetTerms
from analysis.models.trace import Model

_BUCKETS = ("_relative_position_bucket", "relative_position_bucket")


def terms_of_distance(model: Model, layer: FoundLayer, longest: int) -> OffsetTerms | None:
    """Return the terms that a layer adds for every distance; None without any.

    They are of a table by distance, of the layer or of the whole model (T5, MPNet), or grow in
    proportion to the distance (BLOOM, MPT).

    Args:
        longest: largest distance that is asked for, in tokens.

    Raises:
        UnfitModel: if terms were seen that are neither.
    """
    holders = (*layer.call.module.modules(), *model.modules())
    holder = next((m for m in holders if _has_table(m)), None)
    scale, own = layer.attended.scale, layer.attended.scores is not None
    if holder is not None:
        buckets = _buckets(holder)
        table = holder.relative_attention_bias.weight.detach().T
        return OffsetTerms(buckets, bias=table / scale if own else table)
    if not own or not layer.attended.bias:
        return None
    (bias,) = layer.attended.bias
    terms = slopes_of(bias / scale, longest)
    if terms is None:
        raise UnfitModel(
            f"{type(layer.call.module).__name__}: scores have terms of places that are neither of "
            "a table by distance nor in proportion to it."
        )
    return terms


def _has_table(module: Model) -> bool:
    return isinstance(getattr(module, "relative_attention_bias", None), nn.Module)


def _buckets(holder: Model) -> Tensor:
    """Return the bucket of every offset that has one of its own, as the model computes it."""
    bucket = next(getattr(holder, name) for name in _BUCKETS if hasattr(holder, name))
    asked = signature(bucket).parameters
    furthest = getattr(holder, "relative_attention_max_distance", None)
    furthest = asked["max_distance"].default if furthest is None else furthest
    sizes = {
        "num_buckets": getattr(holder, "relative_attention_num_buckets", None),
        "max_distance": furthest,
    }
    given = {name: size for name, size in sizes.items() if name in asked and size is not None}
    weight = holder.relative_attention_bias.weight
    return bucket(torch.arange(-furthest, furthest + 1, device=weight.device), **given)
