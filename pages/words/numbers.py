"""Number formats of sentences and captions."""

import math
from functools import partial

ABSENT = "–"


def percent(share: float, *, digits: int | None = None) -> str:
    """Format a share in per cent: whole, or with one decimal if whole would be 0 or 100."""
    if math.isnan(share):
        return ABSENT
    if digits is None:
        digits = 0 if 0.01 <= share <= 0.99 else 1
    written = f"{100 * share:.{digits}f}"
    return f"{written if float(written) else written.lstrip('-')}%".replace("-", "−")


def change(difference: float, *, digits: int = 2) -> str:
    """Format a difference with its sign."""
    return f"{difference:+.{digits}f}".replace("-", "−")


def points(difference: float, *, digits: int = 2) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    return change(100 * difference, digits=digits)


def count(number: float) -> str:
    return f"{number:,.0f}"


def signed(value: float, *, digits: int = 2) -> str:
    """Format a number with a true minus sign; a dash if it is missing."""
    if math.isnan(value):
        return ABSENT
    return f"{value:.{digits}f}".replace("-", "−")


def offset_label(offset: float) -> str:
    """Format a relative position with its sign."""
    return change(offset, digits=0) if offset else "0"


three_decimals = partial(signed, digits=3)
"""ρ with three decimals, where two would often round to 1, or be the same for two numbers."""


def scientific(value: float) -> str:
    """Format a number with two figures and a power of ten, in markdown: 1.6·10⁻⁷."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits, power = f"{value:.1e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits}·10{raised}"
