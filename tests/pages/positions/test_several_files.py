"""Several files side by side: those that hold the statistic, each with its own numbers."""

from pathlib import Path
from shutil import copyfile

import duckdb
import pytest

from tests.pages.conftest import assert_sound, frames, in_address
from tests.pages.kit.copies import rows_of

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
from pages.ui.store.chosen import readable
from pages.ui.store.inquiry import Asked
def broken(store):
    raise duckdb.Error("out of luck")
Asked().ask(readable(Path({str(several_folder)!r}) / "gpt.duckdb"), broken)
"""
    session = in_session(script, several_folder)
    assert not session.exception
    assert r"gpt\.duckdb" in session.error[0].value


DEEPER = (
    "update stored.run set n_layers = 3",
    "insert into stored.state_spectrum select control, source, 3, length, frequency, n_sequences, "
    "mean, q25, q75, max from stored.state_spectrum where layer = 1",
    rows_of("state_spectrum"),
)
LONGER = (
    "update stored.state_spectrum set length = 64",
    "update stored.state_spectrum set n_sequences = 2 * n_sequences",
)
OPEN = {"file": "gpt.duckdb"}


@pytest.fixture(scope="module")
def deeper_folder(several_folder, tmp_path_factory) -> Path:
    """The folder of several files, one of which has another layer and longer texts."""
    folder = tmp_path_factory.mktemp("deeper")
    for path in several_folder.glob("*.duckdb"):
        copyfile(path, folder / path.name)
    with duckdb.connect(str(folder / "gpt.duckdb")) as store:
        for statement in (*DEEPER, *LONGER):
            store.execute(statement)
    return folder


def panels(exported, choice="query_1_max_linear", n=2):
    return exported[f"po_states_other_files_{choice}_{n}"]


def test_every_file_is_told_by_its_own_numbers_the_open_one_first(section, deeper_folder, exported):
    choices = {"po_source": "hidden", "po_amount": "mean", "po_states_layer": "2"}
    section("states", deeper_folder, po_scale="log", **OPEN, **choices)
    frame, chart = panels(exported, "hidden_2_mean_log")
    assert len(chart.concat) == frame["file"].nunique() == 2
    assert str(chart.to_dict()["concat"]).count("'type': 'log'") >= 2
    assert "gpt.duckdb" in frame["file"].iloc[0]
    for name, n_layers, length in (("bert", 2, 16), ("gpt", 3, 64)):
        shown = frame[frame["file"].str.contains(f"{name}.duckdb", regex=False)]
        with duckdb.connect(str(deeper_folder / f"{name}.duckdb"), read_only=True) as store:
            expected = store.execute(
                "select frequency, mean / $length, n_sequences from position_spectrum_control "
                "where control = 'kept' and source = 'hidden' and layer = 2 and frequency > 0 "
                "and length = $length order by frequency",
                {"length": length},
            ).fetchall()
        assert len(expected) == len(shown)
        for row, numbers in zip(shown.itertuples(), expected, strict=True):
            assert (row.frequency, row.per_token, row.n_sequences) == pytest.approx(numbers)
        [label] = set(shown["file"])
        assert f"layer 2 of {n_layers}, {length} tokens ({expected[0][2]} texts)" in label


def test_files_without_the_layer_are_named_and_not_drawn(section, deeper_folder, exported):
    session = section("states", deeper_folder, po_states_layer="3", **OPEN)
    [note] = [caption.value for caption in session.caption if "no layer 3" in caption.value]
    assert r"bert\.duckdb" in note
    assert "gpt" not in note
    assert panels(exported, "query_3_max_linear", n=1)[0]["file"].str.contains("gpt").all()
    exported.clear()
    session.multiselect(key="po_files").set_value(["bert.duckdb"]).run()
    assert any("no layer 3" in caption.value for caption in session.caption)
    assert exported
    assert not any(key.startswith("po_states_other_files") for key in exported)
