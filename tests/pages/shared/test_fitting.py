"""Charts fit their place on the page, however narrow it is and however many layers there are."""

import re
from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import in_theme, rows_height
from pages.charts.plots import Bars
from pages.export.drawing import svg_of
from pages.export.files import svg

LONG = "|∂L/∂α|（注意を向けるトークンあたり、L：隠れ状態の平均のノルムの二乗（損失ではない））"
SIZE = re.compile(r'<svg[^>]*width="([0-9.]+)" height="([0-9.]+)"')
PLACE = "containerSize()[0]"
ROWS = [{"layer": layer, "mean": layer / 9} for layer in range(1, 4)]


def on_a_page(chart: Any, pixels: int) -> str:
    """SVG of a chart at a place of this width."""
    drawn = in_theme(chart).to_dict()
    for part in parts(drawn):
        for name, text in part.items():
            if isinstance(text, str):
                part[name] = text.replace(PLACE, str(pixels))
    drawn["data"] = {"values": ROWS}
    return svg_of(drawn)


def parts(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from parts(inner)


def size(svg: str) -> tuple[float, float]:
    found = SIZE.search(svg)
    assert found
    return float(found[1]), float(found[2])


def bar_chart(
    title: str = "mean", *, axis: Any = alt.Undefined, data: Any = "data", **properties: Any
) -> Any:
    y, x = alt.Y("layer:O", title=title, axis=axis), alt.X("mean:Q", title="mean")
    source = data if isinstance(data, str) else alt.InlineData(values=data)
    return alt.Chart(source).mark_bar().encode(x=x, y=y).properties(height=150, **properties)


def test_views_stand_beside_each_other_on_a_wide_page_and_below_each_other_on_a_narrow_one():
    chart = alt.hconcat(bar_chart("row", width=300), bar_chart("row", axis=None, width=300))
    wide, narrow = (on_a_page(chart, pixels) for pixels in (900, 620))
    assert size(wide)[0] > 600 > size(narrow)[0]
    assert size(narrow)[1] > 1.8 * size(wide)[1]
    labels = re.compile(r">[123]</text>")
    assert [len(labels.findall(svg)) for svg in (wide, narrow)] == [3, 6]


def test_a_long_title_of_an_axis_leaves_the_marks_their_height():
    titles = ("mean", LONG)
    short, long = (size(on_a_page(bar_chart(title, width=300), 900))[1] for title in titles)
    assert long < short + 20
    printed = [size(svg(bar_chart(title, data=ROWS)))[1] for title in titles]
    assert printed[1] < printed[0] + 20


def test_thirty_layers_have_no_bars_thinner_than_a_line_and_no_map_higher_than_a_screen():
    rows = [(layer, kind, 1.0, 0.9, 1.1) for layer in range(30) for kind in ("cls", "other")]
    frame = pd.DataFrame(rows, columns=["layer", "token_type", "mean", "low", "high"])
    marks = [
        [part.mark.type for part in Bars(colour="token_type").draw(shown, "", {}).layer]
        for shown in (frame[frame["layer"] < 12], frame)
    ]
    assert marks == [["bar", "rule", "rule"], ["area", "line"]]
    assert rows_height(30, 26) <= 400 < rows_height(300, 26)
