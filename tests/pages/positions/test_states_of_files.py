"""One layer of several files side by side: each with its own numbers, whatever it lacks."""

import duckdb
import pytest

from tests.pages.conftest import in_address

DEEPER = (
    "update stored.run set n_layers = 3",
    "insert into stored.state_spectrum select control, source, 3, length, frequency, n_sequences, "
    "mean, q25, q75, max from stored.state_spectrum where layer = 1",
)
LONGER = (
    "update stored.state_spectrum set length = 64",
    "update stored.state_spectrum set n_sequences = 2 * n_sequences",
)


@pytest.fixture
def several(several_folder, tmp_path):
    """The folder of several files, of which one is changed."""

    def copied(name, *statements):
        for each in several_folder.glob("*.duckdb"):
            (tmp_path / each.name).write_bytes(each.read_bytes())
        with duckdb.connect(str(tmp_path / name)) as store:
            for statement in statements:
                store.execute(statement)
        return tmp_path

    return copied


def panels(exported, choice="query_1_max_linear", n=2):
    return exported[f"po_states_other_files_{choice}_{n}"]


def test_files_that_lack_the_statistic_are_named(section, several_folder, exported):
    session = section("states", several_folder)
    assert any(r"other\.duckdb" in each.value for each in session.caption)
    assert not panels(exported)[0]["file"].str.contains("other").any()


@pytest.mark.parametrize(("source", "amount"), [("hidden", "max"), ("query", "mean")])
def test_every_file_is_told_by_its_own_numbers(source, amount, section, several, exported):
    folder = several("gpt.duckdb", *LONGER)
    choices = {"po_source": source, "po_amount": amount, "po_states_layer": "2"}
    section("states", folder, **choices)
    frame, chart = panels(exported, f"{source}_2_{amount}_linear")
    assert len(chart.concat) == frame["file"].nunique() == 2
    for name, length in (("bert", 16), ("gpt", 64)):
        shown = frame[frame["file"].str.contains(f"{name}.duckdb", regex=False)]
        with duckdb.connect(str(folder / f"{name}.duckdb"), read_only=True) as store:
            expected = store.execute(
                f"select frequency, {amount} / $length, n_sequences from position_spectrum_control "
                "where control = 'kept' and source = $source and layer = 2 and frequency > 0 "
                "and length = $length order by frequency",
                {"source": source, "length": length},
            ).fetchall()
        assert len(expected) == len(shown)
        for row, one in zip(shown.itertuples(), expected, strict=True):
            assert (row.frequency, row.per_token, row.n_sequences) == pytest.approx(one)
        [label] = set(shown["file"])
        assert f"layer 2 of 2, {length} tokens ({expected[0][2]} texts)" in label


def test_the_open_file_comes_first(section, several_folder, exported):
    section("states", several_folder, file="gpt.duckdb")
    assert "gpt.duckdb" in panels(exported)[0]["file"].iloc[0]


def test_files_without_the_layer_are_named_and_not_drawn(section, several, exported):
    folder = several("gpt.duckdb", *DEEPER)
    session = section("states", folder, file="gpt.duckdb", po_states_layer="3")
    [told] = [each.value for each in session.caption if "no layer 3" in each.value]
    assert r"bert\.duckdb" in told
    assert "gpt" not in told
    assert panels(exported, "query_3_max_linear", n=1)[0]["file"].str.contains("gpt").all()


def test_no_file_with_the_layer_is_a_sentence(section, several, exported):
    folder = several("gpt.duckdb", *DEEPER)
    choices = {"po_states_layer": "3", "po_files": "bert.duckdb"}
    session = section("states", folder, file="gpt.duckdb", **choices)
    assert any("no layer 3" in each.value for each in session.caption)
    assert not any(key.startswith("po_states_other_files") for key in exported)


def test_a_link_restores_the_files(section, several_folder, exported):
    session = section("states", several_folder, po_files="gpt.duckdb")
    assert session.session_state["po_files"] == ["gpt.duckdb"]
    assert in_address(session, "po_files") == ["gpt.duckdb"]
    assert panels(exported, n=1)[0]["file"].str.contains("gpt").all()


def test_no_file_at_all_is_a_sentence(section, several_folder):
    session = section("states", several_folder)
    session.multiselect(key="po_files").set_value([]).run()
    assert not session.exception
    assert any("Choose one file" in each.value for each in session.info)


def test_the_choice_of_files_is_kept_from_one_section_to_the_other(section, several_folder):
    session = section("states", several_folder, po_files="gpt.duckdb")
    session.segmented_control(key="po_view").set_value("embeddings").run()
    assert not session.exception
    assert session.session_state["po_files"] == ["gpt.duckdb"]


def test_amplitudes_over_lengths_are_said_to_be_so(section, several_folder):
    session = section("states", several_folder)
    assert any("divided by their number of tokens" in each.value for each in session.caption)


def test_a_logarithmic_axis_is_one_in_every_panel(section, several_folder, exported):
    section("states", several_folder, po_scale="log")
    _, chart = panels(exported, "query_1_max_log")
    told = str(chart.to_dict()["concat"])
    assert told.count("'type': 'log'") >= 2
