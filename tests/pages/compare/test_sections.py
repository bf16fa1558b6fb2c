"""Sections on comparison: planted differences are found, copies have none, obstacles are named."""

from pathlib import Path
from shutil import copyfile

import duckdb
import pytest

from analysis.comparison.numbers import unit_values
from pages.services.open_file import described, version_of
from tests.pages.conftest import captions, charts, frames, in_address, sentences
from tests.pages.kit.figures import frame_of

PLANTED = "masked *x*.duckdb"
"""A name that markdown would read."""


@pytest.fixture(scope="session")
def several_folder(treebank_folder, gpt2_folder, images_folder, tmp_path_factory) -> Path:
    """A file, the same again, the same with less attention to [CLS] in layer 2, and two others."""
    folder = tmp_path_factory.mktemp("compared")
    for name in ("a.duckdb", "same.duckdb", PLANTED):
        copyfile(treebank_folder / "tiny.duckdb", folder / name)
    copyfile(gpt2_folder / "tiny.duckdb", folder / "gpt.duckdb")
    copyfile(images_folder / "tiny.duckdb", folder / "vit.duckdb")
    with duckdb.connect(str(folder / PLANTED)) as store:
        store.execute("update stored.sequence_head_pattern set cls = cls * 0.8 where layer = 2")
        store.execute(
            "update stored.manifest set checksum = 1 where name = 'sequence_head_pattern'"
        )
    return folder


A = {"file": "a.duckdb"}


def differences(exported):
    return frame_of(exported, "cmp_headlines_changes").set_index("name")


def notes(session) -> str:
    return "\n".join(note.value for note in session.info)


def text_of(session) -> str:
    return sentences(session).replace("\\", "").replace("**", "")


def test_a_file_does_not_differ_from_its_copy(section, several_folder, exported):
    section("headlines", several_folder, **A, cmp_files="same.duckdb")
    table = differences(exported)
    assert len(table) > 10
    assert not table["difference"].any()
    assert (table["q"].dropna() == 1).all()
    assert table["q"].isna().sum() == 1, "heads are too few"


def test_a_planted_difference_is_found_and_no_other(section, several_folder, exported):
    session = section("headlines", several_folder, **A, cmp_files=PLANTED)
    table = differences(exported)
    differing = table[table["q"] <= 0.05]
    assert set(differing.index) == {
        "Attention to [CLS]",
        "Attention to other tokens",
        "Norm from [CLS]",
        "Norm from other tokens",
    }
    assert "masked *x*" in text_of(session)
    assert "4 are without 0 in it" in sentences(session)
    with duckdb.connect(str(several_folder / "a.duckdb"), read_only=True) as store:
        [(cls,)] = store.execute(
            "select avg(cls) / 2 from sequence_head_pattern where layer = 2"
        ).fetchall()
    assert table.loc["Attention to [CLS]", "difference"] == pytest.approx(-0.2 * cls, rel=1e-5)


@pytest.mark.parametrize(("other", "are_other_texts"), [("same", False), ("gpt", True)])
def test_it_is_told_over_which_texts_files_are_compared(
    other, are_other_texts, section, several_folder
):
    session = section("headlines", several_folder, **A, cmp_files=f"{other}.duckdb")
    with duckdb.connect(str(several_folder / f"{other}.duckdb"), read_only=True) as store:
        [(n, tokens)] = store.execute("select count(*), avg(n_tokens) from sequence").fetchall()
    assert f"{other} has {n} sequences, {tokens:.1f} tokens long on average." in sentences(session)
    assert (f"Other texts than a: {other}. What differs may then" in sentences(session)) == (
        are_other_texts
    )


def test_models_of_another_depth_are_laid_from_0_to_1(section, several_folder, exported, tmp_path):
    for name in ("a.duckdb", "same.duckdb"):
        copyfile(several_folder / name, tmp_path / name)
    with duckdb.connect(str(tmp_path / "same.duckdb")) as store:
        store.execute("update stored.run set n_layers = 3")
    section("headlines", tmp_path, **A)
    frame = frame_of(exported, "cmp_headlines_lines")
    assert frame.groupby("file")["depth"].max().to_dict() == {"a": 1.0, "same": 0.5}
    assert "cmp_headlines_apart" not in exported


def test_every_head_of_a_copy_is_matched_with_itself(section, several_folder, exported):
    session = section("heads", several_folder, **A, cmp_files="same.duckdb")
    heads = frame_of(exported, "cmp_heads_matching")
    assert heads["match"].tolist() == heads["place"].tolist()
    assert not heads["divergence"].any()
    assert f"{len(heads)} of {len(heads)} heads of a find themselves in same" in sentences(session)


def test_pairs_of_a_copy_keep_their_rank(section, several_folder):
    place = A | {"cmp_files": "same.duckdb", "cmp_shown": "all", "cmp_least": "3"}
    session = section("pairs", several_folder, **place)
    [table] = [frame for frame in frames(session) if "moved" in frame]
    assert len(table)
    assert not table["moved"].any()
    assert "changes its place" in sentences(session)


@pytest.mark.parametrize(
    ("view", "reason"), [("heads", "another tokenizer"), ("pairs", "another tokenizer")]
)
def test_what_cannot_be_compared_is_said_and_not_drawn(view, reason, section, several_folder):
    session = section(view, several_folder, **A, cmp_files="gpt.duckdb")
    assert not charts(session)
    assert reason in notes(session)


def test_images_do_not_stand_beside_texts(section, several_folder):
    session = section("headlines", several_folder, **A, cmp_files="vit.duckdb")
    assert "one is of texts and the other of images: vit" in notes(session)
    assert len(charts(session)) == 2, "of the open file alone"


def test_a_file_alone_names_the_command_that_makes_another(section, treebank_folder):
    session = section("headlines", treebank_folder)
    assert "--mask 0.12" in session.code[-1].value
    assert "tiny-masked.duckdb" in session.code[-1].value
    assert in_address(session, "cmp_files") == []


def test_a_link_names_every_file_with_its_content(section, several_folder):
    content = described(version_of(several_folder / "same.duckdb")).content
    session = section("headlines", several_folder, **A, cmp_files=f"same.duckdb:{content}")
    assert in_address(session, "cmp_files") == [f"same.duckdb:{content}"]
    assert "another same" not in captions(session)
    session = section("headlines", several_folder, **A, cmp_files="same.duckdb:00000000")
    assert session.session_state["cmp_files"] == [f"same.duckdb:{content}"]
    assert "another same\\.duckdb, with the content 00000000" in captions(session)


def test_steps_of_a_training_are_drawn_in_their_order(section, several_folder, tmp_path, exported):
    for step, name in ((1000, "b"), (200, "c")):
        copyfile(several_folder / "a.duckdb", tmp_path / f"{name}.duckdb")
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as store:
            store.execute(f"update stored.run set model = 'some/model@step{step}'")
    section("training", tmp_path)
    frame = frame_of(exported, "cmp_headlines_over_steps")
    assert frame["step_of_training"].tolist() == [200, 1000]


def test_heads_differ_where_the_difference_was_planted(section, several_folder, exported):
    place = A | {"cmp_files": PLANTED, "cmp_quantity": "cls", "cmp_weighing": "weight"}
    session = section("head_changes", several_folder, **place)
    frame = frame_of(exported, "cmp_heads_map")
    assert frame.groupby("layer")["differs"].agg(["all", "any"]).to_numpy().tolist() == [
        [False, False],
        [True, True],
    ]
    planted = frame[frame["layer"] == 2]
    assert planted["other"].to_numpy() == pytest.approx(0.8 * planted["one"].to_numpy(), rel=1e-5)
    n = len(planted)
    assert f"{n} of {len(frame)} heads differ" in sentences(session)
    assert "in masked \\*x\\* less that in a, the largest difference: −" in sentences(session)


@pytest.mark.parametrize("names", [["a", "gpt"], ["a", "same"], ["a"]])
def test_tabs_that_have_nothing_for_the_files_are_not_shown(
    names, opened, several_folder, tmp_path
):
    for name in names:
        copyfile(several_folder / f"{name}.duckdb", tmp_path / f"{name}.duckdb")
    session = opened("compare", tmp_path, **A)
    alike = ["heads", "pairs"] if "same" in names else []
    shown = session.segmented_control(key="cmp_view").options if len(names) else []
    assert len(shown) == 1 + len(alike)


@pytest.mark.parametrize("stem", ["headlines", "heads", "pairs"])
def test_the_sql_behind_an_answer_that_was_kept_is_shown_again(section, several_folder, stem):
    session = section(stem, several_folder, **A, cmp_files=PLANTED)
    first = [code.value for code in session.code]
    session.run()
    assert [code.value for code in session.code] == first
    assert any("sequence_" in query or "pair_delta" in query for query in first)


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
