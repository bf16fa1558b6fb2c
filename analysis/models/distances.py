"""Terms of the distance between two tokens in the scores of T5 and its kin."""

from inspect import signature

import torch

from analysis.models.offset_terms import OffsetTerms
from analysis.models.trace import Model


def terms_of_distance(model: Model, attention: Model) -> OffsetTerms | None:
    """Return the terms that a layer's attention adds for every distance; None without any.

    Layers without a table use the first one's.
    """
    holders = [attention, *model.modules()]
    holder = next((m for m in holders if hasattr(m, "_relative_position_bucket")
                   and getattr(m, "relative_attention_bias", None) is not None), None)  # fmt: skip
    if holder is None:
        return None
    asked = signature(holder._relative_position_bucket).parameters
    furthest, table = holder.relative_attention_max_distance, holder.relative_attention_bias.weight
    offsets = torch.arange(-furthest, furthest + 1, device=table.device)
    sizes = {
        "num_buckets": holder.relative_attention_num_buckets,
        "max_distance": furthest,
    }
    given = {name: size for name, size in sizes.items() if name in asked}
    buckets = holder._relative_position_bucket(offsets, **given)
    return OffsetTerms(buckets, bias=table.detach().T)
