"""What is told of one map of relevance, token by token; None where it has no meaning."""

from math import ceil, isnan, log

Numbers = dict[str, float | None]


def summary(
    relevance: list[float],
    is_cls: list[bool],
    is_content: list[bool],
    coverage: list[float] | None = None,
) -> Numbers:
    """Coverage is by content token; NaN where the mask does not tell."""
    told: Numbers = dict.fromkeys(
        ["cls_share", "entropy", "evenness", "top5_share", "mask_share", "mask_chance", "pointing"]
    )
    whole = sum(relevance)
    if any(is_cls):
        told["cls_share"] = sum(r for r, cls in zip(relevance, is_cls, strict=True) if cls) / whole
    content = [r for r, own in zip(relevance, is_content, strict=True) if own]
    told["special_share"] = (whole - sum(content)) / whole
    n = len(content)
    if sum(content) > 0:
        shares = [r / sum(content) for r in content]
        told["entropy"] = -sum(r * log(r) for r in shares if r > 0)
        told["evenness"] = told["entropy"] / log(n) if n > 1 else None
        told["top5_share"] = sum(sorted(shares, reverse=True)[: ceil(n / 20)])
    known = [
        (r, inside)
        for r, inside in zip(content, coverage or [], strict=bool(coverage))
        if not isnan(inside)
    ]
    if known:
        told["mask_chance"] = sum(inside for _, inside in known) / len(known)
        if (seen := sum(r for r, _ in known)) > 0:
            told["mask_share"] = sum(r * inside for r, inside in known) / seen
            largest = max(r for r, _ in known)
            tied = [inside for r, inside in known if r == largest]
            told["pointing"] = sum(tied) / len(tied)
    return told
