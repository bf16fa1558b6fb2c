"""Ratio of mean shares to their baseline, sequence by sequence."""


def mean_ratio(shares: list[float | None], before: list[float | None]) -> float | None:
    """Mean share over mean share before, over the sequences that have both."""
    both = [
        (share, baseline)
        for share, baseline in zip(shares, before, strict=True)
        if share is not None and baseline is not None
    ]
    held = sum(baseline for _, baseline in both)
    return sum(share for share, _ in both) / held if held else None
