"""Charts: intervals in the middle of bars, legible numbers, legends that say where values go on."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from pages.charts.chart_theme import theme, with_data
from pages.charts.colours import LESS_TO_MORE, LOW_TO_HIGH
from pages.charts.maps import Ramp
from pages.charts.plots import Bars
from pages.drawn.token_map import (
    change_scale,
    ends_of,
    reach_of,
)
from pages.kit.frame import _lacks

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


RAMPS = (Ramp(LOW_TO_HIGH, 0.7, 1.0), Ramp(LESS_TO_MORE, 1 / 64, 64.0, log=True))
READABLE = 4.5


def luminance(rgb: tuple[float, ...]) -> float:
    parts = [channel / 255 for channel in rgb]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("ramp", RAMPS)
@given(value=st.floats(0, 100))
def test_every_number_is_readable_on_its_cell(ramp, value):
    ink = ramp.ink(value)
    ground, letters = luminance(ramp.rgb(value)), {"#000000": 0.0, "#ffffff": 1.0}[ink]
    light, dark = max(ground, letters), min(ground, letters)
    assert (light + 0.05) / (dark + 0.05) >= READABLE


def test_what_a_token_keeps_lies_beyond_the_colours_and_the_legend_says_so():
    cells = [(i, j, 56.0 if i == j else 0.1 * j) for i in range(30) for j in range(30)]
    frame = pd.DataFrame(cells, columns=["target_pos", "source_pos", "share"])
    reach = reach_of(frame, "share")
    legend = ends_of(frame["share"], reach, is_change=False)
    assert legend["values"][-1] == reach < 56
    assert f"datum.value >= {reach!r} ? '≥ '" in legend["labelExpr"]
    assert "≤" not in legend["labelExpr"]
    assert change_scale(reach).domain[-1] == reach


@pytest.mark.parametrize(
    ("values", "signs"), [([0.5, 2.0], ""), ([0.5, 9.0], "≥"), ([0.01, 2.0], "≤")]
)
def test_a_ramp_of_ratios_says_which_of_its_ends_some_lie_beyond(values, signs):
    ramp = Ramp(LESS_TO_MORE, 0.25, 4.0, log=True)
    colour: Any = ramp.colour(pd.Series(values, name="v"), "v")
    legend = colour.to_dict()["legend"]
    assert legend["values"] == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert "".join(re.findall("[≤≥]", legend["labelExpr"])) == signs


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
