"""Where a number has no interval the reader is told why, and nowhere else."""

import pandas as pd
import pytest

from pages.ui.figure import _lacks
from pages.ui.words.interval import difference_text

NONE = float("nan")


@pytest.mark.parametrize(
    ("columns", "lacks"),
    [
        ({"mean": [1.0, 2.0], "low": [0.5, 1.5]}, False),
        ({"mean": [1.0, 2.0], "low": [0.5, NONE]}, True),
        ({"ratio": [1.0, NONE], "ratio_low": [0.5, NONE]}, False),
        ({"ratio": [1.0, 2.0], "ratio_low": [0.5, NONE]}, True),
        ({"mean": [NONE]}, False),
    ],
)
def test_an_interval_is_missed_only_where_its_number_is(columns, lacks):
    frame = pd.DataFrame(columns)
    assert any(_lacks(frame, str(name)) for name in frame) == lacks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.01, 0.03, "+1.0 points [−1.0, +3.0]"),
        (NONE, NONE, "+1.0 points, too few texts for an interval"),
    ],
)
def test_a_difference_is_told_with_its_interval_or_with_the_reason(low, high, expected):
    assert difference_text({"difference": 0.01, "low": low, "high": high}) == expected
