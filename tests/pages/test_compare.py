"""Sections on comparison: planted differences are found, copies have none, obstacles are named."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest

from analysis.comparison.numbers import unit_values
from pages.kit.items import Figure
from pages.kit.sections import page_of
from pages.services.open_file import described, version_of
from tests.pages.conftest import captions, in_address, options_of
from tests.pages.kit.ran import Ran, ran

pytestmark = pytest.mark.slow
PLANTED = "masked *x*"
"""A name that markdown would read."""
A = {"file": "a.duckdb"}
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


def test_a_file_does_not_differ_from_its_copy(compared):
    table = compared("headlines", "same").keyed("cmp_headlines_changes")
    assert len(table) > 10
    assert not table["difference"].any()
    assert (table["q"].dropna() == 1).all()
    assert table["q"].isna().sum() == 1, "heads are too few"
    heads = compared("heads", "same")
    matching = heads.keyed("cmp_heads_matching")
    assert matching["match"].tolist() == matching["place"].tolist()
    assert not matching["divergence"].any()
    n = len(matching)
    assert f"{n} of {n} heads of a find themselves in same" in said(heads)
    pairs = compared("pairs", "same", cmp_shown="all", cmp_least="3")
    moved = pairs.table("moved")["moved"]
    assert len(moved)
    assert not moved.any()
    assert "changes its place" in said(pairs)


def test_a_planted_difference_is_found_and_no_other(compared, several_folder):
    section = compared("headlines", PLANTED, cmp_number="cls_weight")
    table = section.keyed("cmp_headlines_changes").set_index("name")
    assert set(table.index[table["q"] <= 0.05]) == {
        "Attention to [CLS]",
        "Attention to other tokens",
        "Norm from [CLS]",
        "Norm from other tokens",
    }
    assert PLANTED in said(section)
    assert "4 are without 0 in it" in said(section)
    assert "in layer 2, where it is largest for its interval: −" in said(section)
    by_layer = section.keyed("cmp_headlines_apart").set_index("layer")["q"] <= 0.05
    assert by_layer.to_dict() == {1: False, 2: True}
    with duckdb.connect(str(several_folder / "a.duckdb"), read_only=True) as store:
        [(cls,)] = store.execute(
            "select avg(cls) / 2 from sequence_head_pattern where layer = 2"
        ).fetchall()
    assert table.loc["Attention to [CLS]", "difference"] == pytest.approx(-0.2 * cls, rel=1e-5)


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("cls = cls + 0.1 + seq % 2 * 1e-3", "above 0"),
        ("cls = cls - least(cls, 0.1) + seq % 2 * 1e-3", "below 0"),
        ("cls = cls + if(seq % 2 = 0, 1e-3, -1e-3)", "not clearly different from 0"),
    ],
)
def test_a_difference_is_said_with_how_sure_it_is(
    change, expected, compared, several_folder, tmp_path
):
    source = copyfile(several_folder / "a.duckdb", tmp_path / "a.duckdb")
    update = f"update stored.sequence_head_pattern set {change}"
    changed_file(source, tmp_path / "b.duckdb", update)
    text = said(compared("headlines", "b", tmp_path, cmp_number="cls_weight"))
    assert expected in text.partition("Attention to [CLS] of b less that of a in layer")[2]


@pytest.mark.parametrize(("other", "are_other_texts"), [("same", False), ("gpt", True)])
def test_it_is_told_over_which_texts_files_are_compared(
    other, are_other_texts, compared, several_folder
):
    text = said(compared("headlines", other))
    with duckdb.connect(str(several_folder / f"{other}.duckdb"), read_only=True) as store:
        [(n, tokens)] = store.execute("select count(*), avg(n_tokens) from sequence").fetchall()
    assert f"{other} has {n} sequences, {tokens:.1f} tokens long on average." in text
    assert (f"Other texts than a: {other}. What differs may then" in text) == are_other_texts


def test_models_of_another_depth_are_laid_from_0_to_1(compared, several_folder, tmp_path):
    source = copyfile(several_folder / "a.duckdb", tmp_path / "a.duckdb")
    changed_file(source, tmp_path / "deeper.duckdb", "update stored.run set n_layers = 3")
    section = compared("headlines", "deeper", tmp_path)
    frame = section.keyed("cmp_headlines_lines")
    assert frame.groupby("file")["depth"].max().to_dict() == {"a": 1.0, "deeper": 0.5}
    assert not [item for item in section.shown if item.shown.name == "apart"]


@pytest.mark.parametrize(
    ("stem", "other", "reason", "n_charts"),
    [
        ("heads", "gpt", "another tokenizer", 0),
        ("pairs", "gpt", "another tokenizer", 0),
        ("headlines", "vit", "one is of texts and the other of images: vit", 2),
    ],
)
def test_what_cannot_be_compared_is_said_and_not_drawn(stem, other, reason, n_charts, compared):
    section = compared(stem, other)
    assert reason in said(section)
    assert sum(isinstance(item, Figure) for item in section.shown) == n_charts


def test_steps_of_a_training_are_drawn_in_their_order(compared, several_folder, tmp_path):
    for step, name in ((1000, "a"), (200, "b")):
        of_step = f"update stored.run set model = 'some/model@step{step}'"
        changed_file(several_folder / "a.duckdb", tmp_path / f"{name}.duckdb", of_step)
    frame = compared("headlines", "b", tmp_path).keyed("cmp_headlines_over_steps")
    assert frame["step_of_training"].tolist() == [200, 1000]


def test_a_file_alone_names_the_command_that_makes_another(treebank_folder, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(treebank_folder))
    [*_, command] = ran("compare", "headlines").texts("code")
    assert "--mask 0.12" in command
    assert "tiny-masked.duckdb" in command


def test_a_link_names_every_file_with_its_content(opened, several_folder):
    content = described(version_of(several_folder / "same.duckdb")).content
    session = opened("compare", several_folder, **A, cmp_files="same.duckdb:00000000")
    assert session.session_state["cmp_files"] == [f"same.duckdb:{content}"]
    assert "another same\\.duckdb, with the content 00000000" in captions(session)
    session = opened("compare", several_folder, **A, cmp_files=f"same.duckdb:{content}")
    assert in_address(session, "cmp_files") == [f"same.duckdb:{content}"]
    assert "another same" not in captions(session)
    first = [code.value for code in session.code]
    assert any("sequence_" in query for query in first)
    assert [code.value for code in session.run().code] == first, "of an answer that was kept"
    assert len(options_of(session, "cmp_view")) == 3


def test_sections_that_have_nothing_for_the_files_are_not_offered(
    several_folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(tmp_path))
    for name in ("a", "gpt"):
        copyfile(several_folder / f"{name}.duckdb", tmp_path / f"{name}.duckdb")
    store = described(version_of(tmp_path / "a.duckdb"))
    offered = [part.name for part in page_of("compare").sections if part.when(store)]
    assert offered == ["headlines"]


def test_compared_files_tell_what_the_first_token_gets(gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        rows = unit_values(store)
        wide = rows.pivot(index=["unit", "layer"], columns="number", values="value")
        given = store.sql("select avg(first) from sequence_head_pattern").fetchall()
    assert not {"cls_weight", "sep_weight"} & set(wide.columns)
    for weighing in ("weight", "norm"):
        both = wide[f"first_{weighing}"] + wide[f"rest_{weighing}"]
        assert both.dropna().to_numpy() == pytest.approx(1)
    assert wide["first_weight"].mean() == pytest.approx(given[0][0])
