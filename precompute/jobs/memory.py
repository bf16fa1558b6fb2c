"""Freed tensors go back to the machine instead of staying with the process."""

import ctypes
import sys

_TRIM_THRESHOLD = -1  # M_TRIM_THRESHOLD of glibc's mallopt
_BYTES = 128 * 2**20


def return_freed_memory() -> None:
    """Keep glibc from raising its own thresholds as large blocks come and go.

    It does so by default, and every batch then leaves a hole that the next does not quite fit; a
    fixed threshold, whatever its value, keeps large tensors out of that. Other systems' allocators
    have no such habit and are left alone.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_TRIM_THRESHOLD, _BYTES)
