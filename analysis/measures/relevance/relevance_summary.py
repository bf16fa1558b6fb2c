"""Summary of a relevance map in a few numbers: place, concentration and type of tokens."""

from math import log

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import entropy

QUANTITIES = (
    "cls_share",
    "special_share",
    "entropy",
    "evenness",
    "top5_share",
    "mask_share",
    "mask_chance",
    "pointing",
)
"""Numbers about one map, in the order of the columns that `relevance_summary` returns."""


def relevance_summary(
    maps: Float[np.ndarray, "row token"],
    *,
    is_cls: Bool[np.ndarray, " token"],
    is_content: Bool[np.ndarray, " token"],
    coverage: Float[np.ndarray, " patch"] | None = None,
) -> Float[np.ndarray, "row value"]:
    """The numbers of `QUANTITIES` of every map; NaN where undefined.

    `cls_share` and `special_share` are shares of the whole. All others are of content alone, with
    its relevance r scaled to a sum of 1: entropy −Σ r ln r in nats, evenness by the largest
    possible entropy, ln n, and the share of the ⌈n / 20⌉ most relevant tokens. `mask_share` is
    Σ r m over the patches with a known share m inside the mask, r scaled to a sum of 1 over these.
    `mask_chance`, the mean of m, is that of an even map. `pointing` is m of the most relevant
    patch, the mean over ties: the chance that a pixel of it lies inside.

    Args:
        is_content: patches, or tokens that are not special.
        coverage: share of each patch inside a mask, NaN where that is unknown.

    Source:
        sawaki-2025, section 4, for what to look at; zhang-2018, section 4, for pointing.

    Differs:
        The paper shows maps and no numbers. Pointing is at a patch, not a pixel.
    """
    summary = np.full((len(maps), len(QUANTITIES)), np.nan)
    column = {name: summary[:, place] for place, name in enumerate(QUANTITIES)}
    total = maps.sum(axis=1)
    if is_cls.any():
        column["cls_share"][:] = maps[:, is_cls].sum(axis=1) / total
    column["special_share"][:] = maps[:, ~is_content].sum(axis=1) / total
    content = maps[:, is_content]
    n = content.shape[1]
    there = content.sum(axis=1) > 0
    if there.any():
        shares = content[there] / content[there].sum(axis=1, keepdims=True)
        column["entropy"][there] = entropy(shares, axis=1)
        if n > 1:
            column["evenness"][there] = column["entropy"][there] / log(n)
        n_top = -(-n // 20)
        column["top5_share"][there] = np.sort(shares, axis=1)[:, n - n_top :].sum(axis=1)
    if coverage is not None:
        _summarise_mask(column, content, coverage)
    return summary


def _summarise_mask(
    column: dict[str, Float[np.ndarray, " row"]],
    content: Float[np.ndarray, "row patch"],
    coverage: Float[np.ndarray, " patch"],
) -> None:
    known = ~np.isnan(coverage)
    if not known.any():
        return
    inside, relevance = coverage[known], content[:, known]
    column["mask_chance"][:] = inside.mean()
    there = relevance.sum(axis=1) > 0
    relevance = relevance[there]
    column["mask_share"][there] = relevance @ inside / relevance.sum(axis=1)
    is_largest = relevance == relevance.max(axis=1, keepdims=True)
    column["pointing"][there] = is_largest @ inside / is_largest.sum(axis=1)
