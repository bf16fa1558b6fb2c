"""Intervals stand in the middle of their bars, drawn as a page draws them."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
import vl_convert

from pages.charts.chart_theme import theme, with_data
from pages.charts.plots import Bars

STREAMLIT = {"bar": {"discreteBandSize": {"band": 0.85}}}
"""Settings that the frontend of pages adds to every chart."""
_PLACE = re.compile(r"translate\(([-\d.e]+),")
_BAR = re.compile(r"M([-\d.e]+),[-\d.e]+h([-\d.e]+)")
FRAME = pd.DataFrame(
    {
        "layer": [1, 1, 2, 2, 3, 3],
        "token_type": ["sep", "cls"] * 3,
        "mean": [0.1, 0.2, 0.3, 0.4, 0.2, 0.6],
        "low": [0.05, 0.1, 0.2, 0.3, 0.1, 0.5],
        "high": [0.2, 0.3, 0.4, 0.5, 0.3, 0.7],
    }
)


def grouped(frame: pd.DataFrame = FRAME) -> dict[str, Any]:
    return with_data(Bars(colour="token_type").draw(frame, "", {}))


def alone() -> dict[str, Any]:
    return with_data(Bars().draw(FRAME[::2], "", {}))


def of_one_type() -> dict[str, Any]:
    return grouped(FRAME[::2])


@pytest.mark.parametrize("chart", [grouped, alone, of_one_type])
def test_intervals_stand_in_the_middle_of_their_bars(chart):
    drawn = chart() | {"config": STREAMLIT | theme()}
    picture = ElementTree.fromstring(vl_convert.vegalite_to_svg(drawn))
    middles = {"bar": [], "rule mark": []}
    for role, middle in _middles(picture):
        middles[role].append(round(middle, 3))
    assert len(middles["bar"]) >= 3
    assert sorted(set(middles["rule mark"])) == sorted(set(middles["bar"]))


def _middles(element: ElementTree.Element, x: float = 0.0) -> Iterator[tuple[str, float]]:
    """The marks of a drawing with their middles in pixels."""
    if place := _PLACE.search(element.get("transform", "")):
        x += float(place[1])
    role = element.get("aria-roledescription")
    if role == "bar":
        [(left, width)] = _BAR.findall(element.get("d", ""))
        yield role, x + float(left) + float(width) / 2
    elif role == "rule mark":
        yield role, x
    for inner in element:
        yield from _middles(inner, x)
