"""Slices of the heads of a layer, so that a formula's temporaries stay small for long texts."""

from collections.abc import Iterator, Sequence

MOST_WEIGHTS = 2**22
"""Attention weights in a slice of several heads: all of a usual batch, one head of 2,048 tokens."""


def head_slices(shape: Sequence[int]) -> Iterator[slice]:
    """Yield slices of the heads of attention (batch × head × query × key), in order."""
    batch, heads, queries, keys = shape
    size = max(1, MOST_WEIGHTS // (batch * queries * keys))
    for first in range(0, heads, size):
        yield slice(first, min(first + size, heads))
