"""Summary quantities of one relevance map, token by token; None where undefined."""

from math import ceil, isnan, log

Numbers = dict[str, float | None]


def summary(
    relevance: list[float],
    is_cls: list[bool],
    is_content: list[bool],
    coverage: list[float] | None = None,
) -> Numbers:
    """Summary of one map.

    `coverage` is by content token; NaN where the mask is unknown.
    """
    row: Numbers = dict.fromkeys(
        ["cls_share", "entropy", "evenness", "top5_share", "mask_share", "mask_chance", "pointing"]
    )
    total = sum(relevance)
    if any(is_cls):
        row["cls_share"] = sum(r for r, cls in zip(relevance, is_cls, strict=True) if cls) / total
    content = [r for r, inside in zip(relevance, is_content, strict=True) if inside]
    row["special_share"] = (total - sum(content)) / total
    n = len(content)
    if sum(content) > 0:
        shares = [r / sum(content) for r in content]
        row["entropy"] = -sum(r * log(r) for r in shares if r > 0)
        row["evenness"] = row["entropy"] / log(n) if n > 1 else None
        row["top5_share"] = sum(sorted(shares, reverse=True)[: ceil(n / 20)])
    known = [
        (r, inside)
        for r, inside in zip(content, coverage or [], strict=bool(coverage))
        if not isnan(inside)
    ]
    if known:
        row["mask_chance"] = sum(inside for _, inside in known) / len(known)
        if (seen := sum(r for r, _ in known)) > 0:
            row["mask_share"] = sum(r * inside for r, inside in known) / seen
            largest = max(r for r, _ in known)
            tied = [inside for r, inside in known if r == largest]
            row["pointing"] = sum(tied) / len(tied)
    return row
