"""What holds of every interval."""

import numpy as np
from numpy.typing import ArrayLike


def assert_ordered(low: ArrayLike, middle: ArrayLike, high: ArrayLike) -> None:
    """Both ends are there, around the number, or neither is, as of fewer than ten units."""
    low, middle, high = (np.asarray(each, dtype=np.float64) for each in (low, middle, high))
    np.testing.assert_array_equal(np.isnan(low), np.isnan(high))
    sure = ~np.isnan(low)
    assert (low[sure] <= middle[sure] + 1e-9).all()
    assert (middle[sure] <= high[sure] + 1e-9).all()
