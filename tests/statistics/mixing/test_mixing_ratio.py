"""Mixing ratios: of single tokens, in a store, and with intervals that whole sequences carry."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.mixing import MIXING_RATIO
from tests.statistics.fits import made, store_of


def pooled(sequences: list[list[float]]) -> tuple[float, float]:
    """Interval of the pooled mean of some sequences' ratios."""
    rows = pd.DataFrame(
        {
            "seq": np.arange(len(sequences)),
            "layer": 1,
            "scope": "attn_w",
            "token_type": "all",
            "n": [len(ratios) for ratios in sequences],
            "mean": [np.mean(ratios) for ratios in sequences],
            "m2": 0.0,
            "min": 0.0,
            "max": 1.0,
        }
    )
    with store_of(sequence_mixing_ratio=rows) as store:
        table = made(MIXING_RATIO, store)
    row = table[table["layer"].isna()].iloc[0]
    assert row["mean"] == pytest.approx(np.mean(np.concatenate(sequences)))
    return row["low"], row["high"]


def test_long_sequences_weigh_more_and_few_have_no_interval():
    """One of 99 tokens at 0.9 among eleven of one token at 0: 90 / 110, not 0.9 / 12."""
    long = [[0.9] * 99, *[[0.0]] * 11]
    low, high = pooled(long)
    assert low == 0
    assert high == pytest.approx(3 * 89.1 / (3 * 99 + 9), rel=0.01)
    assert np.isnan(pooled(long[:9])).all()
