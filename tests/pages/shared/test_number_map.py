"""Printed numbers of a map are legible on every colour."""

import math

import altair as alt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.charts.chart_theme import Chart, layered
from pages.charts.colours import LESS_TO_MORE, LOW_TO_HIGH, RELATION_COLOURS
from pages.charts.maps import Matrix, Ramp
from pages.charts.plots import Stacks
from pages.export import files as export

RAMPS = (Ramp(LOW_TO_HIGH, 0.7, 1.0), Ramp(LESS_TO_MORE, 1 / 64, 64.0, log=True))
READABLE = 4.5
FRAME = pd.DataFrame(
    {"layer": [1, 2, 1, 2], "token": ["a", "a", "b", "b"], "mean": [0.1, 0.9, 0.5, math.nan]}
)


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


@pytest.mark.parametrize("ramp", RAMPS)
def test_the_ends_of_a_ramp_have_its_first_and_last_colour(ramp):
    for value, colour in ((ramp.low, ramp.colours[0]), (ramp.high, ramp.colours[-1])):
        assert "#" + "".join(f"{round(part):02x}" for part in ramp.rgb(value)) == colour
        assert ramp.rgb(value) == ramp.rgb(value * (2 if value == ramp.high else 0.5))


def test_the_middle_of_a_ramp_of_logarithms_is_at_their_mean():
    assert Ramp(LESS_TO_MORE, 0.25, 4.0, log=True).rgb(1.0) == (0xF3, 0xF1, 0xEA)


def drawn(**options):
    kind = Matrix(y="token", ramp=lambda _: Ramp(LOW_TO_HIGH, 0.0, 1.0), format=".1f", **options)
    return kind.draw(FRAME, "", {"layer": 1, "token": "b"})


def test_missing_cells_stay_empty_and_the_others_tell_their_number():
    picture = export.svg(drawn(marked=("layer", "token")))
    assert all(f">{text}<" in picture for text in ("0.1", "0.9", "0.5"))
    assert "NaN" not in picture
    assert picture.count("#ff5a36") == 1


def test_bars_of_two_sides_stand_beside_each_other():
    frame = pd.DataFrame(
        {
            "layer": [1, 1, 1, 1],
            "relation": ["adjacent", "same_word", "adjacent", "same_word"],
            "token_type": ["cls", "cls", "sep", "sep"],
            "mean": [0.25, 0.75, 0.5, 0.5],
        }
    )
    sides = {"cls": 0.45, "sep": 1.0}
    kind = Stacks(colour="relation", side="token_type", sides=sides, more=())
    chart = kind.draw(frame, "", {})
    picture = export.svg(chart)
    assert picture.count(f'fill="{RELATION_COLOURS["adjacent"]}"') >= 2
    assert ">100%<" in picture


def test_a_chart_whose_layers_share_their_encodings_is_the_same_as_one_of_copies(monkeypatch):
    shared = drawn(marked=("layer", "token"))
    assert shared.layer[0].copy().encoding is shared.layer[0].encoding
    monkeypatch.delattr(Chart, "__deepcopy__")
    copied = drawn(marked=("layer", "token"))
    assert copied.layer[0].copy().encoding is not copied.layer[0].encoding
    assert shared.to_dict() == copied.to_dict()


def test_layers_are_those_of_altair_whether_they_share_their_data_or_not():
    cells = alt.Chart(FRAME).mark_rect().encode(x="layer:O", y="token:O")
    numbers = cells.mark_text().encode(text="mean:Q")
    line = alt.Chart(FRAME.head(1)).mark_rule().encode(y="token:O").properties(height=10)
    for parts in ((cells, numbers), (cells, numbers, line), (cells,)):
        expected = alt.layer(*parts).properties(height=90, title="cells")
        assert layered(*parts, height=90, title="cells").to_dict() == expected.to_dict()
    assert cells.data is FRAME, "the parts stay as they were"
