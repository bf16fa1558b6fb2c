"""Printed numbers of a map are legible on every colour."""

import math

import altair as alt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.charts.chart_theme import layered
from pages.charts.colours import LESS_TO_MORE, LOW_TO_HIGH
from pages.charts.maps import Matrix, Ramp
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


def drawn(**options):
    kind = Matrix(y="token", ramp=lambda _: Ramp(LOW_TO_HIGH, 0.0, 1.0), format=".1f", **options)
    return kind.draw(FRAME, "", {"layer": 1, "token": "b"})


def test_missing_cells_stay_empty_and_the_others_tell_their_number():
    picture = export.svg(drawn(marked=("layer", "token")))
    assert all(f">{text}<" in picture for text in ("0.1", "0.9", "0.5"))
    assert "NaN" not in picture
    assert picture.count("#ff5a36") == 1


def test_layers_are_those_of_altair_whether_they_share_their_data_or_not():
    cells = alt.Chart(FRAME).mark_rect().encode(x="layer:O", y="token:O")
    numbers = cells.mark_text().encode(text="mean:Q")
    line = alt.Chart(FRAME.head(1)).mark_rule().encode(y="token:O").properties(height=10)
    for parts in ((cells, numbers), (cells, numbers, line), (cells,)):
        expected = alt.layer(*parts).properties(height=90, title="cells")
        assert layered(*parts, height=90, title="cells").to_dict() == expected.to_dict()
    assert cells.data is FRAME, "the parts stay as they were"
