"""What holds of every interval."""

from typing import Any

import numpy as np


def assert_ordered(low: Any, middle: Any, high: Any) -> None:
    """Both ends are there, around the number, or neither is, as of fewer than ten units."""
    low, middle, high = (np.asarray(numbers, dtype=np.float64) for numbers in (low, middle, high))
    np.testing.assert_array_equal(np.isnan(low), np.isnan(high))
    sure = ~np.isnan(low)
    assert (low[sure] <= middle[sure] + 1e-9).all()
    assert (middle[sure] <= high[sure] + 1e-9).all()
