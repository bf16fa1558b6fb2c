"""The score of the mean query and the mean key at an offset, plane after plane."""

import math


def position_kernel(means, frequencies, offset):
    """Σ_c |m_c| cos(arg m_c − θ_c t)."""
    return math.fsum(
        abs(m) * math.cos(math.atan2(m.imag, m.real) - theta * offset)
        for m, theta in zip(means, frequencies, strict=True)
    )
