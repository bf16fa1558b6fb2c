"""Promises of captions are seen to be kept or broken, and the reason for missing intervals."""

from dataclasses import replace

import altair as alt
import pandas as pd
import pytest

from pages.kit.frame import _lacks
from tests.pages.kit.promises import PROMISES, Pictured, broken

NONE = float("nan")
ROWS = pd.DataFrame({"x": [1, 2], "y": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]})
BASE = alt.Chart(ROWS).encode(x="x:Q", y="y:Q")
BARE = BASE.mark_text().encode(text=alt.value("·"))
SPAN = BASE.encode(y="low:Q", y2="high")


def coloured(colour: str) -> alt.Chart:
    return BASE.mark_circle(color=colour)


EXAMPLES = {
    "interval": ("Bands: 95% interval.", "帯は95%信頼区間です。", SPAN.mark_area()),
    "band": ("Band: least to most.", "帯は最小〜最大。", SPAN.mark_area()),
    "whisker": ("Whiskers: spread.", "ひげはばらつき。", SPAN.mark_rule()),
    "dashed": ("Dashed: even.", "破線は均等な場合。", BASE.mark_line(strokeDash=[6, 4])),
    "dotted": ("Dotted: itself.", "点線は自分自身。", BASE.mark_rule(strokeDash=[2, 4])),
    "red": ("Red: more.", "赤は多いこと。", coloured("#e8664c")),
    "orange": ("Orange: more.", "橙色は多いこと。", coloured("#d67b04")),
    "green": ("Green: both.", "緑は両方。", coloured("#3d7245")),
    "blue": ("Blue: less.", "青は少ないこと。", coloured("#1867c3")),
    "purple": ("In purple: others.", "紫はほか。", coloured("#924d89")),
    "pink": ("Pink: [CLS].", "ピンクは [CLS]。", coloured("#c872b6")),
    "grey": ("Grey: the corpus.", "灰色はコーパス。", coloured("#808995")),
    "white": ("White line: the mask.", "白線はマスク。", BASE.mark_line(stroke="#ffffff")),
    "point": ("A dot per head.", "点がヘッドです。", BASE.mark_circle()),
    "line": ("A line per step.", "線はモジュール。", BASE.mark_line()),
    "bar": ("Bars: means.", "棒は平均。", BASE.mark_bar()),
    "cell": ("A cell is a head.", "1マスがヘッド。", BASE.mark_rect()),
    "tick": ("The tick is the best.", "縦線は最良。", BASE.mark_tick()),
    "ring": ("Ringed: the head.", "丸で囲んだ点。", BASE.mark_point()),
    "arrow": ("Arrows lead on.", "矢印は先へ。", BASE.mark_point(shape="arrow")),
    "shape": ("The shape is the habit.", "色と形は傾向。", BASE.mark_point().encode(shape="x:N")),
    "size": ("Larger: stronger.", "大きい点ほど強い。", BASE.mark_circle().encode(size="y:Q")),
    "pointing": ("Point at one.", "点を指すと出ます。", BASE.mark_circle().encode(tooltip="y:Q")),
    "panels": (
        "Top: α. Middle: f.",
        "上：α。中：f。",
        alt.vconcat(BASE.mark_bar(), BASE.mark_bar()),
    ),
    "count": ("A dot for each of 2 words.", "点は計 2 語。", BASE.mark_circle()),
    "click": ("Click a cell.", "マスをクリックします。", BASE.mark_rect()),
}
"""Words in both languages, and what keeps their promise."""


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_is_seen_to_be_kept_and_to_be_broken(name):
    *words, chart = EXAMPLES[name]
    kept = Pictured("a figure", (), chart, ROWS, is_clickable=name == "click")
    bare = replace(kept, chart=BARE, frame=ROWS[:0], is_clickable=False)
    for lang, text in zip(("en", "ja"), words, strict=True):
        assert not [
            fault for fault in broken(replace(kept, texts=(text,)), lang) if f": {name}: " in fault
        ]
        assert f"a figure: {name}: {text}" in broken(replace(bare, texts=(text,)), lang)


def test_what_has_no_data_keeps_no_promise():
    empty = alt.Chart(ROWS.assign(low=None, high=None)).encode(x="x:Q", y="low:Q", y2="high")
    seen = Pictured("a figure", ("Bands: 95% interval.",), empty.mark_area(), ROWS)
    assert [fault.split(": ")[1] for fault in broken(seen, "en")] == ["interval", "band"]
    filtered = BASE.mark_circle(color="#d67b04").transform_filter("datum.x > 2")
    seen = Pictured("a figure", ("Orange: a dot.",), filtered, ROWS)
    assert [fault.split(": ")[1] for fault in broken(seen, "en")] == ["orange", "point"]


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
