"""The query of how much a quantity varies, against numbers by hand."""

import math

import duckdb
import pytest

from analysis.statistics.norms.dispersion import DISPERSION, dispersion_query


def test_dispersion_is_told_by_layer_and_over_all():
    with duckdb.connect() as store:
        store.execute("create table lengths (layer integer, length float)")
        store.execute("insert into lengths values (1, 2), (1, 4), (1, 6), (2, 0), (2, 0)")
        rows = store.sql(dispersion_query("length", source="lengths", key="layer"))
        assert rows.columns == ["layer", *(column.name for column in DISPERSION)]
        by_layer = {layer: numbers for layer, *numbers in rows.fetchall()}
    std = math.sqrt(8 / 3)
    assert by_layer.pop(1) == pytest.approx([3, 4.0, std, std / 4, 2.0, 6.0])
    overall_std = math.sqrt(56 / 5 - 2.4**2)
    assert by_layer.pop(None) == pytest.approx([5, 2.4, overall_std, overall_std / 2.4, 0.0, 6.0])
    assert by_layer == {2: [2, 0.0, 0.0, None, 0.0, 0.0]}, "nothing varies by a share of 0"
