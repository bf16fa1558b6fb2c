"""Maps of one sequence: numbers are those of the file, and links, clicks and texts are safe."""

from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import pytest
import streamlit as st

from pages.sequences.maps import attention_moved
from pages.services.live_model import LONGEST
from pages.services.model_process import ModelProcess
from tests.pages.conftest import assert_sound, bodies, captions, charts, in_address, sentences
from tests.pages.kit.figures import click, frame_of

NOISE = 2e-6  # of shares in float32
SHORT = "The dog."
OWN = {"seq_whose": "own", "seq_text": SHORT}
HOSTILE = "<script>alert(1)</script> [x](javascript:1) *a*"


def square(frame, panel: str) -> Any:
    """Cells of a map as shares of each row."""
    cells = frame[frame["panel"] == panel]
    return cells.pivot(index="target_pos", columns="source_pos", values="in_percent_share") / 100


def kept_map(store, *, seq: int, layer: int, head: int) -> np.ndarray:
    """The attention weights that the file keeps of a sequence."""
    [(n, attention)] = store.execute(
        "select n, attention from exemplar_attention where seq = ? and layer = ? and head = ?",
        [seq, layer, head],
    ).fetchall()
    return np.array(attention).reshape(n, n)


@pytest.fixture
def short(store) -> int:
    """A sequence of which the file keeps the weights between all tokens."""
    return store.execute("select seq from sequence where text = ?", [SHORT]).fetchall()[0][0]


@pytest.mark.parametrize("own", [True, False])
def test_weights_and_norms_of_a_head_are_those_of_the_file(section, exported, store, short, own):
    section("map", head="2-3", **(OWN if own else {"seq_seq": str(short)}))
    frame, kept = frame_of(exported, "seq_map_panels"), kept_map(store, seq=short, layer=2, head=3)
    np.testing.assert_allclose(square(frame, "weight"), kept, atol=1e-6)
    norms = store.execute(
        "select value_norm from head_token where seq = ? and layer = 2 and head = 3 order by pos",
        [short],
    ).df()["value_norm"]
    expected = kept * norms.to_numpy()
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(square(frame, "norm"), expected, atol=NOISE)
    lines = frame_of(exported, "seq_map_lines")
    drawn = kept[lines["query_pos"], lines["key_pos"]]
    np.testing.assert_allclose(lines["share"], drawn, atol=1e-6)
    grid = frame_of(exported, "seq_map_grid").set_index(["layer", "head"])
    others = (kept - np.diag(kept.diagonal())).mean(axis=0)
    np.testing.assert_allclose(grid.loc[(2, 3), "attention"], others.max(), atol=1e-6)


def test_scopes_differ_by_the_change_that_the_file_keeps(section, exported, store):
    """The file's changes are of the feed-forward network: the scope after it less that before."""
    shares = []
    for scope in ("attn_res_ln_ff", "attn_res_ln"):
        exported.clear()
        section("map", seq_quantity=scope)
        shares.append(square(frame_of(exported, "seq_map_panels"), "scope").to_numpy())
    stored = store.execute(
        "from pair_occurrence where layer = 1 and effect = 'ff' and seq = 0"
    ).df()
    assert len(stored) > 10, "this test could not have failed"
    change = (shares[0] - shares[1])[stored["target_pos"], stored["source_pos"]]
    np.testing.assert_allclose(change, stored["delta"], atol=NOISE)


def test_a_click_looks_at_a_head_and_at_a_token_through_the_layers(section, exported):
    session = section("map")
    click(session, "seq_grid_text", "cell", {"layer": 2, "head": 3})
    assert in_address(session, "head") == ["2-3"]
    exported.clear()
    click(session, "seq_panels", "cell_weight", {"target_pos": 3})
    assert_sound(session)
    assert in_address(session, "seq_token") == ["3"]
    here = square(frame_of(exported, "seq_map_panels"), "weight").to_numpy()
    assert here.shape[0] > 3
    takes = frame_of(exported, "seq_map_takes")
    assert len(takes) == 5 * takes["layer"].nunique()
    assert "gives to" in sentences(session)


def test_a_second_text_is_compared_with_the_first(section, exported):
    session = section("map", head="1-2", **OWN, seq_second="The dog dog.")
    frame = frame_of(exported, "seq_map_panels")
    first, second, change = (square(frame, name) for name in ("first", "second", "change"))
    at, to = list(change.index), [place + (place > 2) for place in change.index]
    assert len(second) == len(first) + 1
    expected = second.to_numpy()[np.ix_(to, to)] - first.to_numpy()[np.ix_(at, at)]
    np.testing.assert_allclose(change, expected, atol=1e-9)
    assert "the most of any head" in sentences(session)


def test_without_a_head_later_layers_attend_elsewhere_and_the_output_moves(section, exported):
    session = section("map", **OWN, seq_away="1-2")
    moved = frame_of(exported, "seq_map_moved")
    assert (moved.loc[moved["layer"] == 1, "mean"] == 0).all()
    assert (moved.loc[moved["layer"] == 2, "mean"] > 0).all()
    assert (frame_of(exported, "seq_map_outputs")["share"] > 0).all()
    assert "ithout L1·H2, the last layer’s vectors change" in sentences(session)


def test_a_text_of_a_link_is_escaped_and_bound_by_its_length(section):
    session = section("map", seq_whose="own", seq_text=HOSTILE)
    assert charts(session)
    shown = "\n".join((sentences(session), captions(session), bodies(session)))
    assert "<script" not in shown
    assert "](javascript" not in shown
    assert in_address(session, "seq_text") == [HOSTILE]
    whole = section("map", seq_whose="own", seq_text="a " * (LONGEST // 2))
    assert charts(whole)
    session = section("map", seq_whose="own", seq_text="語" * (LONGEST + 500))
    assert not charts(session)
    [note] = session.info
    assert f"{LONGEST:,}" in note.value
    assert len(quote(in_address(session, "seq_text")[0])) <= 9 * (LONGEST + 1)


def test_half_of_all_differences_counts_with_all_that_goes_to_tokens_of_one_run_alone():
    before = np.array([[[0.5, 0.5], [0.2, 0.8]]])
    after = np.array([[[0.1, 0.6, 0.3], [0.0, 1.0, 0.0], [0.2, 0.4, 0.4]]])
    same = [(0, 0), (1, 2)]
    first, second = (0.4 + 0.2 + 0.6) / 2, (0.0 + 0.4 + 0.4) / 2
    np.testing.assert_allclose(attention_moved(before, after, same), [(first + second) / 2])
    np.testing.assert_array_equal(attention_moved(before, before, [(0, 0), (1, 1)]), [0.0])
    assert np.isnan(attention_moved(before, after, []))


def test_without_the_model_what_is_kept_is_shown_and_the_rest_is_told(
    section, changed, tmp_path, short
):
    folder = changed(f"update stored.run set model = '{tmp_path / 'model-bert'}'")
    weights = section("map", folder, seq_seq=str(short))
    assert len(charts(weights)) == 3
    scope = section("map", folder, seq_seq=str(short), seq_quantity="attn_res")
    assert not charts(scope)
    (warning,), (note,) = scope.warning, scope.info
    assert "cannot be loaded" in warning.value
    assert "does not hold this map" in note.value


def test_an_uploaded_image_has_the_map_of_the_same_image_of_the_file(
    opened, images_folder, exported
):
    with duckdb.connect(str(images_folder / "tiny.duckdb"), read_only=True) as store:
        [(name,)] = store.execute("select text from sequence where seq = 1").fetchall()
    assert_sound(opened("sequences", images_folder, head="2-1", seq_seq="1"))
    of_file = square(frame_of(exported, "seq_map_panels"), "weight")
    exported.clear()
    session = opened("sequences", images_folder, head="2-1", seq_whose="own")
    content = (images_folder / "images" / name).read_bytes()
    session.file_uploader[0].upload(name, content, "image/png").run()
    assert_sound(session)
    uploaded = square(frame_of(exported, "seq_map_panels"), "weight")
    np.testing.assert_allclose(uploaded, of_file, atol=NOISE)
    assert len(uploaded) == 1 + 12
    assert "data:image/png" in bodies(session), "the contours lie on the patches"


def test_what_the_model_gives_is_computed_once_for_a_session(section, monkeypatch):
    st.cache_data.clear()
    functions, ask = [], ModelProcess.ask

    def noted(process, model, function, *given):
        functions.append(function)
        return ask(process, model, function, *given)

    monkeypatch.setattr(ModelProcess, "ask", noted)
    session = section("map")
    session.selectbox(key="head").set_value("2-2").run()
    assert_sound(session)
    assert functions.count("head_maps") == 1
