"""Charts are drawn, or refused with a reason."""

import altair as alt
import pandas as pd
import pytest

from pages.charts.chart_theme import with_data
from pages.export.drawing import NotDrawn, pdf_of, png_of, svg_of

FRAME = pd.DataFrame({"token": ["[CLS]", "[SEP]"], "share": [0.25, None]})
SOUND = with_data(alt.Chart(FRAME).mark_point().encode(x="share:Q", y="token:N"))


def test_a_chart_is_drawn_in_every_form_also_after_one_that_is_none():
    with pytest.raises(NotDrawn, match="TypeError"):
        svg_of({"mark": 3})
    drawn = svg_of(SOUND)
    assert drawn.startswith("<svg")
    assert png_of(drawn).startswith(b"\x89PNG")
    assert pdf_of(drawn).startswith(b"%PDF")
