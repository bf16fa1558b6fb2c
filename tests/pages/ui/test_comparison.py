"""Comparison of a figure with another choice: the second panel, and the difference."""

from pathlib import Path
from shutil import copyfile
from typing import Any

import altair as alt
import duckdb
import pandas as pd
import pytest

from pages.ui.charts.fitting.title_lines import text_width
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import bars, lines
from pages.ui.comparison.difference import IS_CLEAR, differences
from pages.ui.comparison.marks import units
from pages.ui.comparison.panels import panels
from pages.ui.export.files import svg, with_data
from tests.pages.conftest import assert_sound, captions, charts

TITLES = ("A · one", "B · other", "B − A")
NUMBERS = pd.DataFrame(
    {
        "layer": [1, 2, 3],
        "mean": [0.2, 0.5, 0.4],
        "low": [0.1, 0.4, 0.3],
        "high": [0.3, 0.6, 0.5],
    }
)
LATER = NUMBERS.assign(mean=[0.6, 0.55, 0.4], low=[0.5, 0.45, 0.3], high=[0.7, 0.65, 0.5])
MASKED = "demo-masked.duckdb"
FILE_BESIDE = {"hh_map_share_beside": f"file={MASKED}"}


def _line(frame: pd.DataFrame) -> dict[str, Any]:
    return with_data(lines(frame, x="layer", y="mean"))


def _map(frame: pd.DataFrame) -> dict[str, Any]:
    heads = frame.assign(head=1)
    return with_data(head_map(heads, "mean", "mean", format=".2f", marked=(1, 1)))


@pytest.mark.parametrize(
    "drawn", [_line, _map, lambda frame: with_data(bars(frame, x="layer", y="mean"))]
)
def test_a_difference_has_the_interval_between_the_far_ends_of_both(drawn):
    (difference,) = differences(drawn(NUMBERS), drawn(LATER)).values()
    assert [row["mean"] for row in difference.rows] == pytest.approx([0.4, 0.05, 0.0])
    assert [row["low"] for row in difference.rows] == pytest.approx([0.2, -0.15, -0.2])
    assert [row["high"] for row in difference.rows] == pytest.approx([0.6, 0.25, 0.2])
    assert [row[IS_CLEAR] for row in difference.rows] == [True, False, False]
    assert (difference.n_clear, difference.largest["layer"]) == (1, 1)


def test_only_marks_of_both_charts_have_a_difference():
    (difference,) = differences(_line(NUMBERS), _line(LATER[LATER["layer"] > 1])).values()
    assert [row["layer"] for row in difference.rows] == [2, 3]
    assert difference.n_marks == 3


def test_a_number_without_an_interval_has_a_difference_that_is_not_called_clear():
    without = LATER.assign(low=[float("nan"), 0.45, 0.3])
    (difference,) = differences(_line(NUMBERS), _line(without)).values()
    assert difference.rows[0]["mean"] == pytest.approx(0.4)
    assert difference.rows[0][IS_CLEAR] is None
    assert len(difference.with_interval) == 2


def test_marks_that_are_there_twice_have_no_difference():
    twice = pd.concat([LATER, LATER])
    assert differences(_line(NUMBERS), _line(twice)) == {}


def test_a_range_is_no_interval():
    def drawn(frame: pd.DataFrame) -> dict[str, Any]:
        ranged = frame.rename(columns={"low": "min", "high": "max"})
        return with_data(lines(ranged, x="layer", y="mean", ends=("min", "max")))

    one, other = drawn(NUMBERS), drawn(LATER)
    found = differences(one, other)
    (difference,) = found.values()
    assert difference.of.ends is None
    assert difference.with_interval == []
    marks = [unit.mark for _, unit in units(panels(one, other, found, TITLES)["hconcat"][2])]
    assert marks == ["line"]


@pytest.mark.parametrize("drawn", [_line, _map])
def test_both_panels_have_one_scale_and_the_third_one_around_0(drawn):
    one, other = drawn(NUMBERS), drawn(LATER)
    shown = panels(one, other, differences(one, other), TITLES)
    channel = "color" if drawn is _map else "y"
    domains = [
        [
            unit.encoding[channel]["scale"].get("domain")
            for _, unit in units(panel)
            if unit.field(channel) == "mean"
        ]
        for panel in shown["hconcat"]
    ]
    assert domains[0] == domains[1] == [[0, 0.6]]
    if drawn is _map:
        assert domains[2][0] == pytest.approx([-0.4, -0.2, 0, 0.2, 0.4])
    assert svg(shown).startswith("<svg")


def test_cells_whose_difference_is_unclear_have_a_dot_and_the_colours_of_the_legend():
    one, other = _map(NUMBERS), _map(LATER)
    shown = panels(one, other, differences(one, other), TITLES)
    parts = list(units(shown["hconcat"][2]))
    assert [unit.mark for _, unit in parts] == ["rect", "circle", "rect"]
    assert not any("opacity" in unit.encoding for _, unit in parts)
    picture = svg(alt.Chart.from_dict(shown))
    assert picture.count('aria-roledescription="circle"') == 2


def test_nothing_in_the_panels_can_be_clicked():
    clicked = alt.selection_point(name="cell", fields=["layer"], empty=False)
    drawn = (
        alt.Chart(NUMBERS)
        .mark_bar()
        .encode(
            x="layer:O",
            y=alt.Y("mean:Q", title="mean"),
            opacity=alt.condition(clicked, alt.value(1.0), alt.value(0.4)),
        )
    )
    chart = with_data(drawn.add_params(clicked))
    shown = panels(chart, chart, {}, TITLES)
    assert "param" not in repr(shown)
    assert [panel["encoding"]["opacity"] for panel in shown["hconcat"]] == [{"value": 0.4}] * 2


def test_panels_stand_below_each_other_where_there_is_no_room_beside():
    one, other = _line(NUMBERS), _line(LATER)
    assert len(panels(one, other, differences(one, other), TITLES, share=0.5)["vconcat"]) == 3


def test_a_long_title_of_a_panel_is_in_lines_no_wider_than_it():
    name = "A · normalisation after the feed-forward network of a very long name.duckdb"
    drawn = panels(_line(NUMBERS), _line(LATER), {}, (name, *TITLES[1:]))["hconcat"]
    lines, [short] = (panel["title"]["text"] for panel in drawn)
    assert " ".join(lines) == name
    assert all(text_width(line, 13) <= 212 for line in lines)
    assert short == TITLES[1]


@pytest.fixture(scope="module")
def two_files(store_folder, tmp_path_factory) -> Path:
    """A file, and one with another share of [CLS] in layer 1."""
    folder = tmp_path_factory.mktemp("two")
    for name in ("demo.duckdb", MASKED):
        copyfile(store_folder / "tiny.duckdb", folder / name)
    with duckdb.connect(str(folder / MASKED)) as store:
        store.execute(
            "update stored.head_pattern set mean = mean / 2, low = low / 2, high = high / 2 "
            "where layer = 1 and quantity = 'cls'"
        )
        store.execute("update stored.manifest set checksum = 1 where name = 'head_pattern'")
    return folder


def test_the_reader_is_told_what_changes_and_how_to_read_it(opened, two_files):
    session = opened("habits", two_files, hh_view="heads", file="demo.duckdb", **FILE_BESIDE)
    (title,) = [chart["title"]["text"] for chart in charts(session) if "concat" in chart]
    assert "From demo to demo-masked" in " ".join(title)
    assert "B − A has a scale of its own" in captions(session)


def test_what_cannot_stand_beside_a_figure_is_said(opened, two_files):
    """The ring around the chosen head is all that another one would change."""
    beside = {"hh_map_share_beside": "head=2-3"}
    session = opened("habits", two_files, hh_view="heads", file="demo.duckdb", **beside)
    assert_sound(session)
    assert ["L2·H3" in note.value for note in session.info] == [True]


FIGURES = {
    "a token type": ("norms", "an_view", "heads", "an_maps", "an_type", "sep"),
    "a layer": ("layer_mixing", "lm_view", "similarity", "lm_matrix", "lm_layer", "1"),
    "a file": ("habits", "hh_view", "heads", "hh_map_share", "file", MASKED),
}


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_the_second_panel_is_the_figure_as_it_is_with_that_choice(
    opened, exported, two_files, figure
):
    page, view, section, name, choice, option = figure
    usual = {view: section, "file": "demo.duckdb"}
    session = opened(page, two_files, **usual, **{f"{name}_beside": f"{choice}={option}"})
    assert_sound(session)
    assert not session.info, [note.value for note in session.info]
    (shown,) = [chart for _, chart in exported.values() if isinstance(chart, dict)]
    drawn = shown.get("hconcat") or shown["vconcat"]
    exported.clear()
    opened(page, two_files, **usual | {choice: option})
    made = [_rows(with_data(chart)) for _, chart in exported.values() if chart is not None]
    assert _rows(drawn[1] | {"datasets": shown["datasets"]}) in made


def _rows(chart: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [chart["datasets"][str(unit.data)] for _, unit in units(chart)]
