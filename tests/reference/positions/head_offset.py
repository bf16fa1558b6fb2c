"""Slow twin: the rule for equal values written out."""


def preferred_offset(values, offsets):
    best = (float("inf"), 0, 0)
    for value, offset in zip(values, offsets, strict=True):
        best = min(best, (-value, abs(offset), offset))
    return best[2]
