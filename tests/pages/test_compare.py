"""Comparison of files, and of a figure with another choice beside it."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pandas as pd
import pytest

from pages.charts.chart_theme import with_data
from pages.charts.maps import HeadMap
from pages.charts.plots import Bars, Spread
from pages.export.files import svg
from pages.export.shown import Shown
from pages.kit.beside import IS_CLEAR, _panels, differences
from pages.kit.items import Figure, Table
from pages.kit.kinds import Custom
from pages.services.open_file import described, version_of
from tests.pages.conftest import assert_sound, captions, charts
from tests.pages.kit.ran import Ran, ran
from tests.pages.kit.stores import changed_copy

pytestmark = pytest.mark.slow
PLANTED = "masked *x*"
"""A name that markdown would read."""
CHANGED = "update stored.manifest set checksum = 1 where name = 'sequence_head_pattern'"


def changed_file(source: Path, to: Path, *statements: str) -> Path:
    """Copy of a file after some statements on the patterns of its heads."""
    copyfile(source, to)
    with duckdb.connect(str(to)) as store:
        for statement in (*statements, CHANGED):
            store.execute(statement)
    return to


@pytest.fixture(scope="session")
def several_folder(treebank_folder, gpt2_folder, images_folder, tmp_path_factory) -> Path:
    """A file, the same again, the same with less attention to [CLS] in layer 2, and two others."""
    folder, source = tmp_path_factory.mktemp("compared"), treebank_folder / "tiny.duckdb"
    for name in ("a.duckdb", "same.duckdb"):
        copyfile(source, folder / name)
    copyfile(gpt2_folder / "tiny.duckdb", folder / "gpt.duckdb")
    copyfile(images_folder / "tiny.duckdb", folder / "vit.duckdb")
    less = "update stored.sequence_head_pattern set cls = cls * 0.8 where layer = 2"
    changed_file(source, folder / f"{PLANTED}.duckdb", less)
    return folder


@pytest.fixture
def compared(several_folder, monkeypatch) -> Callable[..., Ran]:
    """Compare the first of some files with another one."""

    def run(stem: str, other: str, folder: Path = several_folder, **choices: Any) -> Ran:
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        first, second = (described(version_of(folder / f"{name}.duckdb")) for name in ("a", other))
        return ran("compare", stem, first, cmp_files=second.key, **choices)

    return run


def said(section: Ran) -> str:
    return section.said.replace("\\", "").replace("**", "")


def test_heads_differ_where_the_difference_was_planted(compared):
    section = compared("heads", PLANTED, cmp_quantity="cls", cmp_weighing="weight")
    frame = section.keyed("cmp_heads_map")
    assert frame.groupby("layer")["differs"].agg(["all", "any"]).to_numpy().tolist() == [
        [False, False],
        [True, True],
    ]
    planted = frame[frame["layer"] == 2]
    assert planted["other"].to_numpy() == pytest.approx(0.8 * planted["one"].to_numpy(), rel=1e-5)
    assert f"{len(planted)} of {len(frame)} heads differ" in said(section)
    assert "in masked *x* less that in a, the largest difference: −" in said(section)


def test_a_file_does_not_differ_from_its_copy(compared):
    table = compared("headlines", "same").keyed("cmp_headlines_changes")
    assert len(table) > 10
    assert not table["difference"].any()
    assert (table["q"].dropna() == 1).all()
    matching = compared("heads", "same").keyed("cmp_heads_matching")
    assert matching["match"].tolist() == matching["place"].tolist()
    pairs = compared("pairs", "same", cmp_shown="all", cmp_least="3")
    [moved] = [
        of.full["moved"] for of in pairs.shown if isinstance(of, Table) and "moved" in of.full
    ]
    assert len(moved)
    assert not moved.any()


def test_a_planted_difference_is_found_and_no_other(compared, several_folder):
    section = compared("headlines", PLANTED, cmp_number="cls_weight")
    table = section.keyed("cmp_headlines_changes").set_index("name")
    changed = {
        f"{of} {to}" for of in ("Attention to", "Norm from") for to in ("[CLS]", "other tokens")
    }
    assert set(table.index[table["q"] <= 0.05]) == changed
    assert "in layer 2, where it is largest for its interval: −" in said(section)
    assert f"{PLANTED} has" in said(section)
    by_layer = section.keyed("cmp_headlines_apart").set_index("layer")["q"] <= 0.05
    assert by_layer.to_dict() == {1: False, 2: True}
    with duckdb.connect(str(several_folder / "a.duckdb"), read_only=True) as store:
        cls = "select avg(cls) / 2 from sequence_head_pattern where layer = 2"
        [(cls,)] = store.execute(cls).fetchall()
    assert table.loc["Attention to [CLS]", "difference"] == pytest.approx(-0.2 * cls, rel=1e-5)


@pytest.mark.parametrize(
    ("stem", "other", "reason", "n_charts"),
    [
        ("heads", "gpt", "another tokenizer", 0),
        ("headlines", "vit", "one is of texts and the other of images: vit", 2),
        ("headlines", "gpt", "Other texts than a: gpt. What differs may then", 4),
    ],
)
def test_what_cannot_be_compared_is_said_and_not_drawn(stem, other, reason, n_charts, compared):
    section = compared(stem, other)
    assert reason in said(section)
    assert sum(isinstance(item, Figure) for item in section.shown) == n_charts


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
KINDS = {
    "bars": Bars(),
    "spread": Spread(colour="token_type"),
    "maps": HeadMap(panel="token_type", panels=("cls",)),
    "custom": Custom(
        chart=lambda frame, name, choices: Bars().draw(frame, name, choices), marks=("layer",)
    ),
}


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
    means = NUMBERS.assign(head=float("nan"))
    assert len(differences(means, LATER.assign(head=float("nan")), KINDS["spread"])) == 3
    assert differences(NUMBERS, pd.concat([LATER, LATER]), Bars()).empty, (
        "marks of which there are 2"
    )


@pytest.mark.parametrize("kind", ["bars", "maps"])
def test_every_panel_is_drawn_from_its_own_rows(kind):
    """As the picture tells it: views of one name would be drawn from the same rows."""
    choices = {"layer": 1, "head": 1}
    pair = [Figure(Shown("k", "?", "", frame), choices=choices) for frame in (NUMBERS, LATER)]
    less = differences(NUMBERS, LATER, KINDS[kind])
    panels = _panels(KINDS[kind], (pair[0], pair[1]), less, ("one", "other"), in_row=True)
    picture = unescape(svg(with_data(panels)))
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', picture))
    written = re.findall(r": (−?\d[\d.]*)(%?)", labels)
    numbers = {float(number.replace("−", "-")) / (100 if unit else 1) for number, unit in written}
    assert {0.2, 0.5, 0.6, 0.55, 0.05} <= numbers
    assert all(title in picture for title in ("A · one", "B · other", "B − A"))


@pytest.mark.slow
def test_the_second_panel_is_the_figure_with_that_choice_and_the_reader_is_told_so(
    opened, exported, store_folder, tmp_path
):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "demo.duckdb")
    halved = "mean = mean / 2, low = low / 2, high = high / 2 where quantity = 'cls'"
    folder = changed_copy(store_folder, tmp_path, f"update stored.head_pattern set {halved}")
    usual = {"hh_view": "heads", "file": "demo.duckdb"}
    session = opened("habits", folder, **usual, hh_map_share_beside="file=tiny.duckdb")
    assert_sound(session)
    assert not session.info, [note.value for note in session.info]
    assert any("hconcat" in chart for chart in charts(session))
    assert "B − A has a scale of its own" in captions(session)
    [beside] = [shown.frame for shown in exported.values() if "side" in shown.frame]
    exported.clear()
    opened("habits", folder, **usual | {"file": "tiny.duckdb"})
    alone = next(shown.frame for key, shown in exported.items() if "map_share" in key)
    second = beside[beside["side"] == "B"][list(alone)].reset_index(drop=True)
    pd.testing.assert_frame_equal(second, alone, check_dtype=False)
    session = opened("habits", folder, **usual, hh_map_share_beside="head=2-3")
    assert ["L2·H3" in note.value for note in session.info] == [True], "a ring alone would change"
