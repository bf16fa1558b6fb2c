"""The map of one sequence: its numbers are those of the file, and clicks lead on."""

import duckdb
import numpy as np
import pandas as pd
import pytest
import streamlit as st

from analysis.statistics.pairs import pair_occurrence
from pages.sequences.map import cells
from pages.sequences.through_layers import layer_shares, strongest
from pages.ui.live.model_process import ModelProcess
from tests.pages.conftest import assert_sound, charts, in_address
from tests.pages.kit.figures import click, frame_of

NOISE = 2e-6  # of shares in float32
SHORT = "The dog."
OWN = """
import streamlit as st
from pages.sequences.subject import Subject
from pages.sequences.shares import MapOf, shares_of
from pages.ui.live import live_model, readings
from pages.ui.store.chosen import open_store
from pages.ui.view import View

view = View("te", "test", open_store())
reading = readings.of_text(view, st.query_params["text"]) if live_model.reachable(view) else None
if reading is not None:
    ids = reading.token_ids
    subject = Subject(reading.key, reading.tokens, ids, (), lambda: reading)
    maps = (("head_weight", 2, 1), ("attn", 2))
    st.session_state["found"] = {key: shares_of(view, subject, MapOf(*key)) for key in maps}
"""


def square(frame: pd.DataFrame, values: str = "in_percent_share") -> np.ndarray:
    """The cells of a map as shares of each row."""
    cells = frame.pivot(index="target_pos", columns="source_pos", values=values)
    return cells.to_numpy() / 100


def kept_map(store, *, seq: int, layer: int, head: int) -> np.ndarray:
    """The attention weights that the file keeps of a sequence."""
    [(n, attention)] = store.execute(
        "select n, attention from exemplar_attention where seq = ? and layer = ? and head = ?",
        [seq, layer, head],
    ).fetchall()
    return np.array(attention).reshape(n, n)


def short_text(store) -> int:
    """A sequence of which the file keeps the weights between all tokens."""
    return store.execute("select seq from sequence where text = ?", [SHORT]).fetchall()[0][0]


def test_weights_of_a_head_are_those_of_the_file(section, exported, store):
    seq = short_text(store)
    section("map", seq_seq=str(seq), seq_quantity="head_weight", head="2-3")
    weights = square(frame_of(exported, "seq_map_map"))
    kept = kept_map(store, seq=seq, layer=2, head=3)
    np.testing.assert_allclose(weights, kept, atol=1e-7)
    lines = frame_of(exported, "seq_map_lines")
    np.testing.assert_allclose(lines["share"], kept[lines["query_pos"], lines["key_pos"]])
    assert len(lines) == (kept >= 0.004).sum()


def test_norms_of_a_head_are_the_weights_times_the_norms_of_the_file(section, exported, store):
    seq = short_text(store)
    section("map", seq_seq=str(seq), seq_quantity="head_norm", head="1-2")
    norms = store.execute(
        "select value_norm from head_token where seq = ? and layer = 1 and head = 2 order by pos",
        [seq],
    ).df()["value_norm"]
    expected = kept_map(store, seq=seq, layer=1, head=2) * norms.to_numpy()
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(square(frame_of(exported, "seq_map_map")), expected, atol=NOISE)
    lines = frame_of(exported, "seq_map_lines")
    shares = expected[lines["query_pos"], lines["key_pos"]]
    np.testing.assert_allclose(lines["share"], shares, atol=NOISE)


def test_a_difference_of_scopes_is_the_change_that_the_file_keeps(section, exported, store):
    """The file's changes are of the feed-forward network: the scope after it less that before."""
    section("map", seq_quantity="attn_res_ln_ff", seq_minus="attn_res_ln")
    stored = pair_occurrence.of_sequence(store, seq=0, layer=1, effect="ff")
    assert len(stored) > 10, "this test could not have failed"
    differences = square(frame_of(exported, "seq_map_map"), "in_points_share")
    shown = differences[stored["target_pos"], stored["source_pos"]]
    np.testing.assert_allclose(shown, stored["delta"], atol=NOISE)


def test_a_typed_text_has_the_maps_of_the_same_text_of_the_file(in_session, store_folder, store):
    session = in_session(OWN, store_folder, text=SHORT)
    assert_sound(session)
    maps = session.session_state["found"]
    kept = kept_map(store, seq=short_text(store), layer=2, head=1)
    np.testing.assert_allclose(maps["head_weight", 2, 1], kept, atol=1e-6)
    np.testing.assert_allclose(maps["attn", 2].sum(axis=1), 1, atol=1e-6)


def test_a_click_looks_at_a_token_through_the_layers_and_stands_in_the_address(section, exported):
    session = section("map")
    assert len(charts(session)) == 2
    exported.clear()
    click(session, "seq_map", "cell", {"target_pos": 3})
    assert_sound(session)
    assert in_address(session, "seq_token") == ["3"]
    assert len(charts(session)) == 4
    takes, gives = (frame_of(exported, f"seq_map_{side}") for side in ("takes", "gives"))
    here = square(frame_of(exported, "seq_map_map"))
    for frame, shares in ((takes, here[3]), (gives, here[:, 3])):
        of_layer = frame[frame["layer"] == 1].set_index("pos")["share"]
        np.testing.assert_allclose(of_layer, np.delete(shares, 3), atol=1e-9)
    click(session, "seq_tokens", "place", {"pos": 0})
    assert in_address(session, "seq_token") == ["0"]


def test_the_strongest_tokens_of_some_layer_are_named():
    first, second = np.eye(8), np.eye(8)
    first[2, 5], second[2, 6] = 0.5, 0.7
    names = list("abcdefgh")
    frame = layer_shares(names, {1: first, 2: second}, 2, "takes")
    assert strongest(frame)[:2] == ["g", "f"]
    assert "c" not in set(frame["token"])
    given = layer_shares(names, {1: first, 2: second}, 5, "gives")
    assert strongest(given)[0] == "c"


@pytest.mark.parametrize(
    ("causal", "seen"), [(False, ["bb", "bc", "cb", "cc"]), (True, ["bb", "cb", "cc"])]
)
def test_a_map_shows_the_positions_that_it_has_room_for_and_a_token_sees(causal, seen):
    shares = np.arange(16.0).reshape(4, 4)
    frame = cells(list("abcd"), shares, range(1, 3), causal=causal)
    assert (frame["target"] + frame["source"]).tolist() == seen
    assert frame["share"].iloc[-1] == 10.0


def test_without_the_model_what_is_kept_is_shown_and_the_rest_is_told(
    section, changed, tmp_path, store
):
    folder = changed(f"update stored.run set model = '{tmp_path / 'model-bert'}'")
    place = {"seq_seq": str(short_text(store))}
    weights = section("map", folder, seq_quantity="head_weight", **place)
    assert charts(weights)
    assert not weights.warning, "the model is not asked for"
    scope = section("map", folder, **place)
    assert not charts(scope)
    (warning,), (note,) = scope.warning, scope.info
    assert "cannot be loaded" in warning.value
    assert "does not hold this map" in note.value


def test_an_uploaded_image_has_the_map_of_the_same_image_of_the_file(
    opened, images_folder, exported
):
    with duckdb.connect(str(images_folder / "tiny.duckdb"), read_only=True) as store:
        [(name,)] = store.execute("select text from sequence where seq = 1").fetchall()
    place = {"seq_quantity": "head_weight", "head": "2-1"}
    assert_sound(opened("sequences", images_folder, **place, seq_seq="1"))
    of_file = square(frame_of(exported, "seq_map_map"))
    exported.clear()
    session = opened("sequences", images_folder, **place, seq_whose="own")
    content = (images_folder / "images" / name).read_bytes()
    session.file_uploader[0].upload(name, content, "image/png").run()
    assert_sound(session)
    uploaded = square(frame_of(exported, "seq_map_map"))
    np.testing.assert_allclose(uploaded, of_file, atol=NOISE)
    assert len(uploaded) == 1 + 12


def test_a_text_is_found_by_its_words_or_its_number(section, store):
    seq = short_text(store)
    for text in ("the DOG.", str(seq)):
        session = section("map", seq_find=text, seq_quantity="head_weight")
        assert session.selectbox(key="seq_seq").value == seq
    (note,) = section("map", seq_find="no such words").info
    assert "No text" in note.value


OF_FILE = """
import streamlit as st
from pages.sequences.subject import of_file
from pages.sequences.shares import MapOf, shares_of
from pages.ui.store.chosen import open_store
from pages.ui.view import View

view = View("te", "test", open_store())
st.session_state["found"] = shares_of(view, of_file(view, 0), MapOf("attn", 2))
"""


def test_what_the_model_gives_is_computed_once_for_a_session(in_session, store_folder, monkeypatch):
    st.cache_data.clear()
    functions, ask = [], ModelProcess.ask

    def noted(process, model, function, *given):
        functions.append(function)
        return ask(process, model, function, *given)

    monkeypatch.setattr(ModelProcess, "ask", noted)
    session = in_session(OF_FILE, store_folder)
    maps = [session.session_state["found"], session.run().session_state["found"]]
    assert functions.count("layer_maps") == 1
    np.testing.assert_array_equal(*maps)
