"""Several files side by side: those that hold the statistic, each with its own numbers."""

import duckdb
import pytest

from tests.pages.conftest import assert_sound, frames, in_address

LOGARITHMIC = {"po_scale": "log", "file": "gpt.duckdb"}


def compared(session):
    [table] = [frame for frame in frames(session) if "peaks" in frame]
    return table


def test_files_that_lack_the_statistic_are_named(section, several_folder):
    session = section("embeddings", several_folder)
    assert any(r"other\.duckdb" in caption.value for caption in session.caption)
    assert compared(session)["file"].str.contains("other").sum() == 0


@pytest.mark.parametrize("stem", ["bert", "gpt"])
def test_every_file_is_told_by_its_own_numbers(stem, section, several_folder):
    address = {"gpt": LOGARITHMIC}.get(stem, {})
    shown = compared(section("embeddings", several_folder, **address))
    assert len(shown) == 2
    assert stem in shown["file"].iloc[0]
    for name in ("bert", "gpt"):
        with duckdb.connect(str(several_folder / f"{name}.duckdb"), read_only=True) as store:
            [(largest,)] = store.execute(
                "select max(mean) from embedding_spectrum where control = 'kept' and frequency > 0"
            ).fetchall()
        [ours] = shown[shown["file"].str.contains(f"{name}.duckdb", regex=False)]["largest"]
        assert ours == pytest.approx(largest)


def test_a_panel_is_drawn_for_every_file(section, several_folder, exported):
    section("embeddings", several_folder)
    frame, chart = exported["po_embeddings_other_files_linear_2"]
    assert len(chart.concat) == frame["file"].nunique() == 2


def test_a_link_restores_the_files_for_both_sections(section, several_folder, exported):
    session = section("states", several_folder, po_files="gpt.duckdb")
    assert session.session_state["po_files"] == ["gpt.duckdb"]
    assert in_address(session, "po_files") == ["gpt.duckdb"]
    frame, _ = exported["po_states_other_files_query_1_max_linear_1"]
    assert frame["file"].str.contains("gpt").all()
    session.segmented_control(key="po_view").set_value("embeddings").run()
    assert_sound(session)
    assert session.session_state["po_files"] == ["gpt.duckdb"]
    assert len(compared(session)) == 1
    session.multiselect(key="po_files").set_value([]).run()
    assert_sound(session)
    assert session.info
    session.segmented_control(key="po_view").set_value("states").run()
    assert_sound(session)
    assert any("Choose one file" in note.value for note in session.info)


def test_a_file_that_breaks_while_it_is_read_is_named(in_session, several_folder):
    script = f"""
from pathlib import Path
import duckdb
from pages.ui.store.chosen import ask_store, readable
def broken(store):
    raise duckdb.Error("out of luck")
ask_store(readable(Path({str(several_folder)!r}) / "gpt.duckdb"), broken)
"""
    session = in_session(script, several_folder)
    assert not session.exception
    assert r"gpt\.duckdb" in session.error[0].value
