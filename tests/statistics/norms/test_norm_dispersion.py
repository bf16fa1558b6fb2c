"""Dispersion of norms by layer and over all, by hand."""

import math

import pandas as pd
import pytest

from analysis.statistics.norms.norm_dispersion import INPUT_NORM, VALUE_NORM
from tests.statistics.fits import made, store_of


def test_dispersion_is_by_layer_or_head_and_over_all():
    numbers = pd.DataFrame({"layer": [1, 1, 1, 2, 2], "input_norm": [2.0, 4, 6, 0, 0]})
    heads = numbers.rename(columns={"input_norm": "value_norm"}).assign(head=[1, 1, 1, 3, 3])
    with store_of(token_norm=numbers, head_token=heads) as store:
        of_inputs, of_heads = (made(table, store) for table in (INPUT_NORM, VALUE_NORM))
    std, overall = math.sqrt(8 / 3), math.sqrt(56 / 5 - 2.4**2)
    expected = [
        [3, 4.0, std, std / 4, 2.0, 6.0],
        [2, 0.0, 0.0, math.nan, 0.0, 0.0],  # a share of 0 is none
        [5, 2.4, overall, overall / 2.4, 0.0, 6.0],
    ]
    columns = [column.name for column in INPUT_NORM.values]
    for rows in (of_inputs, of_heads):
        for row, numbers_of_row in zip(rows[columns].to_numpy(), expected, strict=True):
            assert row == pytest.approx(numbers_of_row, nan_ok=True)
    assert of_inputs["layer"].fillna(0).tolist() == [1, 2, 0]
    assert of_heads[["layer", "head"]].fillna(0).to_numpy().tolist() == [[1, 1], [2, 3], [0, 0]]
