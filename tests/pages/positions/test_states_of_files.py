"""One layer of several files side by side: each with its own numbers, whatever it lacks."""

from pathlib import Path
from shutil import copyfile

import duckdb
import pytest

from tests.pages.kit.copies import rows_of

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
