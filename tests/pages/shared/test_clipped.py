"""Legends mark ends beyond which numbers lie; shades follow their values."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pages.charts.chart_theme import open_ends
from pages.charts.colours import LESS_TO_MORE
from pages.charts.maps import Ramp
from pages.drawn import shading
from pages.drawn.token_map import (
    cells,
    change_scale,
    ends_of,
    pointing,
    reach_of,
    token_map,
)
from pages.words.scope import words_of


@pytest.mark.parametrize(
    ("values", "signs"), [([0, 1], ""), ([0, 2], "≥"), ([-3, 1], "≤"), ([-2, 2], "≤≥")]
)
def test_an_end_is_marked_where_values_go_on(values, signs):
    label = open_ends(pd.Series(values), (-1, 0, 1), ".2~g")["labelExpr"]
    assert "".join(re.findall("[≤≥]", label)) == signs


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


def test_tokens_that_get_nearly_the_same_differ_in_colour_as_their_scale_tells():
    shades = shading.Shades(0.034, 0.030)
    grounds = [shades.ground(value) for value in (0.030, 0.031, 0.033, 0.034)]
    assert len(set(grounds)) == 4
    scale = shading.scale("received", shades, "{:.2%}")
    for value in (0.030, 0.034):
        assert f'background: {shades.ground(value)}">{value:.2%}' in scale


def test_names_stand_at_their_places_where_some_tokens_are_left_out():
    frame = cells(list("abcd"), np.eye(4), [0, 1, 3], causal=False)
    with words_of("sequences", "map"):
        chart = token_map(
            frame,
            "share",
            legend=" ",
            heading=" ",
            is_change=True,
            side=200,
            marked=None,
            name="cell",
            pointed=pointing("first"),
        )
    axis = chart.to_dict()["layer"][0]["encoding"]["y"]["axis"]
    assert axis["values"] == [0, 1, 3]
    assert axis["labelExpr"] == "['a', 'b', '', 'd'][datum.value - 0]"
