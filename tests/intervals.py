"""Law of every interval."""

from typing import Any

import numpy as np


def assert_ordered(low: Any, middle: Any, high: Any) -> None:
    """Check that the ends enclose the number, or that both are missing, as with under ten units."""
    low, middle, high = (np.asarray(numbers, dtype=np.float64) for numbers in (low, middle, high))
    np.testing.assert_array_equal(np.isnan(low), np.isnan(high))
    sure = ~np.isnan(low)
    assert (low[sure] <= middle[sure] + 1e-9).all()
    assert (middle[sure] <= high[sure] + 1e-9).all()
