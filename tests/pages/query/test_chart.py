"""Default chart of the answer to a query."""

import pandas as pd
import pytest

from pages.charts.chart_theme import with_data
from pages.export import files as export
from pages.query.chart import Roles, can_be_drawn, chart, usual

LAYERS = {"layer": [1, 2, 3], "mean": [0.1, 0.2, 0.3]}
AROUND = {"low": [0.0, 0.1, 0.2], "high": [0.2, 0.3, 0.4]}
GRID = {"layer": [1, 1, 2, 2], "head": [1, 2, 1, 2], "entropy": [0.1, 0.2, 0.3, 0.4]}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (LAYERS, Roles("lines", "layer", "mean")),
        (GRID, Roles("lines", "layer", "entropy", "head")),
        (LAYERS | AROUND, Roles("lines", "layer", "mean")),
        ({"pair": ["a", "b"], "n": [5, 6], "delta": [0.1, 0.2]}, Roles("bars", "pair", "delta")),
        ({"token": ["a", "a"], "delta": [0.1, 0.2]}, Roles("points", "token", "delta")),
        ({"a": [0.5, 1.5], "b": [2.5, 3.5]}, Roles("points", "b", "a")),
        ({"n": [5, 6], "square": [25, 36]}, Roles("points", "square", "n")),
        ({"layer": [1, 2], "head": [3, 4]}, Roles("lines", "head", "layer")),
        ({"low": [0.1, 0.2], "high": [0.3, 0.4]}, Roles("points", "high", "low")),
        (
            {"layer": [1, 1, 2, 2], "scope": ["attn", "attn_w"] * 2, "ratio": [0.1, 0.2, 0.3, 0.4]},
            Roles("lines", "layer", "ratio", "scope"),
        ),
    ],
    ids=str,
)  # fmt: skip
def test_columns_are_drawn_as_they_usually_are(columns, expected):
    frame = pd.DataFrame(columns)
    assert can_be_drawn(frame)
    assert usual(frame) == expected
    for kind in ("bars", "lines", "points"):
        drawn = chart(frame, Roles(kind, expected.x, expected.y, expected.colour))
        assert "mark-" in export.svg(drawn)


@pytest.mark.parametrize(
    "columns",
    [{"n": [1]}, {"n": [1, 2]}, {"a": ["x", "y"], "b": ["x", "y"]}, {"n": [1], "b": ["x"]}],
)
def test_what_has_no_two_numbers_to_compare_is_not_drawn(columns):
    assert not can_be_drawn(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("ends", "y", "has_interval"),
    [
        (AROUND, "mean", True),
        ({"low": [0.0, None, 0.2], "high": [0.2, None, 0.4]}, "mean", True),
        ({"mean_low": [0.0, 0.1, 0.2], "mean_high": [0.2, 0.3, 0.4]}, "mean", True),
        (AROUND, "layer", False),
        ({"low": [0.0, 0.3, 0.2], "high": [0.2, 0.4, 0.4]}, "mean", False),
        ({"low": ["a", "b", "c"], "high": ["a", "b", "c"]}, "mean", False),
        ({"low": [None] * 3, "high": [None] * 3}, "mean", False),
    ],
)
def test_an_interval_is_drawn_where_it_lies_around_what_is_drawn(ends, y, has_interval):
    frame = pd.DataFrame(LAYERS | ends)
    assert ("low" in chart(frame, Roles("bars", "layer", y)).data) == has_interval


@pytest.mark.parametrize(("n", "lies"), [(8, False), (9, True)])
def test_bars_of_many_names_lie(n, lies):
    names = [f"name {place}" for place in range(n)]
    frame = pd.DataFrame({"pair": names, "mean": 0.1, "low": 0.0, "high": 0.2})
    drawn = with_data(chart(frame, Roles("bars", "pair", "mean")))
    encodings = [part["encoding"] for part in drawn["layer"]]
    assert all((one["y"]["field"] == "x") == lies for one in encodings)
    assert len(encodings) == 3, "an interval is drawn by two rules"
