"""B − A: a figure with another choice or file beside it, and the difference."""

import re
from html import unescape
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pandas as pd
import pytest

from pages.charts.chart_theme import with_data
from pages.charts.colours import LOW_TO_HIGH
from pages.charts.maps import HeadMap, Matrix, Ramp
from pages.charts.plots import Bars, Lines, Points, Rows, Spread, Stacks
from pages.export.files import svg
from pages.export.shown import Shown
from pages.kit.beside import IS_CLEAR, _panels, differences
from pages.kit.items import Figure
from pages.kit.kinds import Custom, Plot
from tests.pages.conftest import assert_sound, captions, charts, sentences

NUMBERS = pd.DataFrame(
    {
        "layer": [1, 2, 3],
        "head": [1, 1, 1],
        "token_type": ["cls", "cls", "cls"],
        "mean": [0.2, 0.5, 0.4],
        "low": [0.1, 0.4, 0.3],
        "high": [0.3, 0.6, 0.5],
    }
)
LATER = NUMBERS.assign(mean=[0.6, 0.55, 0.4], low=[0.5, 0.45, 0.3], high=[0.7, 0.65, 0.5])
CHOICES = {"layer": 1, "head": 1}
KINDS = {
    "bars": Bars(),
    "lines": Lines(),
    "rows": Rows(y="layer"),
    "spread": Spread(colour="token_type"),
    "map": HeadMap(),
    "maps": HeadMap(panel="token_type", panels=("cls",)),
    "matrix": Matrix(y="token_type", ramp=lambda values: Ramp(LOW_TO_HIGH, 0.0, values.max())),
    "points": Points(x="layer", marks=("layer",)),
    "stacks": Stacks(colour="head", side="token_type", sides={"cls": 1.0}, format=".2f"),
    "custom": Custom(
        chart=lambda frame, name, choices: Bars().draw(frame, name, choices), marks=("layer",)
    ),
}
MASKED = "demo-masked.duckdb"
FILE_BESIDE = {"hh_map_share_beside": f"file={MASKED}"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_difference_has_the_interval_between_the_far_ends_of_both(kind):
    less = differences(NUMBERS, LATER, kind)
    assert less["mean"].tolist() == pytest.approx([0.4, 0.05, 0.0])
    assert less["low"].tolist() == pytest.approx([0.2, -0.15, -0.2])
    assert less["high"].tolist() == pytest.approx([0.6, 0.25, 0.2])
    assert less[IS_CLEAR].tolist() == [True, False, False]


def test_only_marks_of_both_have_a_difference_clear_only_with_an_interval():
    without = LATER.assign(low=[float("nan"), 0.45, 0.3])
    less = differences(NUMBERS[NUMBERS["layer"] < 3], without, Bars())
    assert less["layer"].tolist() == [1, 2]
    assert less[IS_CLEAR].isna().tolist() == [True, False]
    assert differences(NUMBERS, LATER.drop(columns="low"), Bars())[IS_CLEAR].isna().all()


def test_means_without_a_head_are_matched_and_marks_that_are_there_twice_are_not():
    means = NUMBERS.assign(head=float("nan"))
    assert len(differences(means, LATER.assign(head=float("nan")), KINDS["spread"])) == 3
    assert differences(NUMBERS, pd.concat([LATER, LATER]), Bars()).empty


def drawn(kind: Plot, one: pd.DataFrame = NUMBERS, other: pd.DataFrame = LATER) -> dict[str, Any]:
    """Panels of a kind in Vega-Lite."""
    pair = [Figure(Shown("k", "?", "", frame), choices=CHOICES) for frame in (one, other)]
    less = differences(one, other, kind)
    return with_data(_panels(kind, (pair[0], pair[1]), less, ("one", "other"), in_row=True))


@pytest.mark.parametrize("kind", ["bars", "maps", "custom"])
def test_every_panel_is_drawn_from_its_own_rows(kind):
    """As the picture tells it: views of one name would be drawn from the same rows."""
    picture = unescape(svg(drawn(KINDS[kind])))
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', picture))
    written = re.findall(r": (−?\d[\d.]*)(%?)", labels)
    numbers = {float(number.replace("−", "-")) / (100 if unit else 1) for number, unit in written}
    assert {0.2, 0.5, 0.6, 0.55, 0.05} <= numbers
    assert all(title in picture for title in ("A · one", "B · other", "B − A"))


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


def test_what_cannot_stand_beside_a_figure_is_said(opened, two_files):
    """The ring around the chosen head is all that another one would change."""
    beside = {"hh_map_share_beside": "head=2-3"}
    session = opened("habits", two_files, hh_view="heads", file="demo.duckdb", **beside)
    assert_sound(session)
    assert ["L2·H3" in note.value for note in session.info] == [True]


@pytest.mark.slow
def test_the_second_panel_is_the_figure_with_that_choice_and_the_reader_is_told_so(
    opened, exported, two_files
):
    usual = {"hh_view": "heads", "file": "demo.duckdb"}
    session = opened("habits", two_files, **usual, **FILE_BESIDE)
    assert_sound(session)
    assert not session.info, [note.value for note in session.info]
    assert any("hconcat" in chart for chart in charts(session))
    assert "From demo to demo" in sentences(session)
    assert "B − A has a scale of its own" in captions(session)
    [beside] = [shown.frame for shown in exported.values() if "side" in shown.frame]
    exported.clear()
    opened("habits", two_files, **usual | {"file": MASKED})
    alone = next(shown.frame for key, shown in exported.items() if "map_share" in key)
    second = beside[beside["side"] == "B"][list(alone)].reset_index(drop=True)
    pd.testing.assert_frame_equal(second, alone, check_dtype=False)
