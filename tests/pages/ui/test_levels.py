"""Sentence on the largest part of a correlation."""

import numpy as np

from analysis.statistics.parts import OF_PAIRS
from pages.ui.words.levels import carried, carrier


def test_the_carrier_goes_the_way_of_the_whole():
    row = {"spearman": -0.2, "within_heads": 0.3, "between_heads": -0.1, "between_layers": -0.4}
    row |= {f"{part}_spearman{end}": np.nan for part in OF_PAIRS for end in ("", "_low", "_high")}
    assert carrier(row, OF_PAIRS) == "between_layers"
    assert carrier(row | {"spearman": 0.2}, OF_PAIRS) == "within_heads"
    ends = {"between_layers_spearman_low": -0.9, "between_layers_spearman_high": 0.1}
    assert "not clear of 0" in carried(row | ends, OF_PAIRS)
    assert "too few" in carried(row, OF_PAIRS)
