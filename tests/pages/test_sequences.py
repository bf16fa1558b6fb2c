"""Maps, pairs and vectors of one sequence: numbers are those of the file, and texts are safe."""

import re
from typing import Any, cast
from unicodedata import normalize
from urllib.parse import quote

import duckdb
import numpy as np
import pandas as pd
import pytest
import streamlit as st

from analysis.statistics.pairs.changes import with_interval
from pages.kit.run import Run, within
from pages.sequences import changes
from pages.sequences.maps import attention_moved
from pages.sequences.vectors import Parts
from pages.services.live_model import LONGEST
from pages.services.model_process import ModelProcess
from tests.pages.conftest import assert_sound, bodies, captions, charts, in_address, sentences
from tests.pages.kit.figures import frame_of

pytestmark = pytest.mark.slow
OF_PAGE = "sequences"
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


POSITION = re.compile("[₀-₉]+")
TOKEN_IDS = "select token_id from token where seq = 0 order by pos"
MEANS = """
    select mean_ff as mean_delta, error_ff as standard_error, degrees
    from pair_delta_wide where layer = 1 and source = ? and target = ?"""
KEPT = "from pair_occurrence where layer = 1 and effect = 'ff' and seq = 0"


def test_changes_and_means_are_those_of_the_file(section, exported, store):
    section("pairs")
    kept = store.execute(KEPT).df().set_index(["source_pos", "target_pos"])["delta"]
    ids = [token_id for (token_id,) in store.execute(TOKEN_IDS).fetchall()]
    frames = [frame_of(exported, f"seq_pairs_{name}") for name in ("amplified", "attenuated")]
    n_checked = 0
    every = cast(Any, pd.concat(frames))
    for row in every.itertuples():
        source, target = (int(normalize("NFKC", digits)) for digits in POSITION.findall(row.pair))
        if row.side == "here" and (source, target) in kept:
            np.testing.assert_allclose(row.in_points_delta, 100 * kept[source, target], atol=2e-4)
            n_checked += 1
        if row.side == "corpus":
            means = store.execute(MEANS, [ids[source], ids[target]]).df()
            [mean] = with_interval(means).itertuples()
            np.testing.assert_allclose(
                (row.in_points_delta, row.low), (100 * mean.mean_delta, 100 * mean.low), atol=1e-9
            )
            n_checked += 1
    assert n_checked > 10, "this test could not have failed"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            {"delta": 0.3, "mean_delta": 0.1, "low": 0.05, "high": 0.15, "distance": 4.0, "n": 5},
            [("change", 30.0), ("mean", 10.0), ("far", 1.0), ("bell", 0.0455)],
        ),
        (
            {"delta": -0.3, "mean_delta": np.nan, "low": np.nan, "high": np.nan}
            | {"distance": np.nan, "n": 4},
            [("change", -30.0)],
        ),
    ],
)
def test_the_finding_tells_the_largest_change_and_pairs_far_from_their_mean(rows, found):
    frame = pd.DataFrame([rows | {"pair": "a → b"}])
    given = {"layer": 1, "effect": "ff", "changes": frame}
    made = changes.found(None, given)  # pyright: ignore[reportArgumentType]
    assert [*zip(made["name"], made["value"].round(4), strict=True)] == found


LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
PLANE = np.array([[3.0, 0, 0], [0, 2.0, 0], [0, 0.5, 0], [-1.0, 0, 0], [0, 0, 8.0]])


@pytest.fixture
def said():
    """Words of the section on vectors."""
    with within(Run(words=("sequences", "vectors"))):
        yield


def parts(weights: list[float], vectors: np.ndarray = PLANE) -> Parts:
    return Parts(list("abcde"), np.array(weights), vectors)


def test_bars_are_exact_and_end_with_the_rest_and_the_sum(said):
    bars = parts([0.1, 0.2, 0.6, 0.05, 0.05]).bars
    assert list(bars["name"][:3]) == ["c", "b", "e"]
    np.testing.assert_allclose(bars["value_norm"][:3], [0.5, 2, 8])
    np.testing.assert_allclose(bars["weighted_norm"][:3], [0.3, 0.4, 0.4])
    np.testing.assert_allclose(bars["attention"][3:], [0.15, 1])
    total = np.array([0.3 - 0.05, 0.4 + 0.3, 0.4])
    np.testing.assert_allclose(bars["weighted_norm"][3:], np.array([0.25, np.linalg.norm(total)]))


def test_vectors_of_a_plane_are_drawn_as_long_as_they_are(said):
    arrows = parts([0.4, 0.3, 0.2, 0.1, 0.0]).arrows
    np.testing.assert_allclose(arrows["in_plane"], 1)
    np.testing.assert_allclose(np.hypot(arrows["x"], arrows["y"]), arrows["length"])
    after = arrows[arrows["panel"] == "after"].set_index("name")[["x", "y"]]
    *kept, total = after.to_numpy()
    np.testing.assert_allclose(np.sum(kept, axis=0), total, atol=1e-12)


def test_vectors_that_cancel_have_a_sum_of_0_and_no_share(said):
    arrows = parts(
        [0.5, 0.5, 0, 0, 0], np.array([[1.0, 0], [-1, 0], [0, 1], [1, 1], [2, 0]])
    ).arrows
    last = arrows.iloc[-1]
    assert last["length"] == 0
    assert np.isnan(last["in_plane"])


def test_lengths_of_the_section_are_those_of_the_file(section, exported, store):
    [(seq,)] = store.execute("select seq from sequence where text = ?", [SHORT]).fetchall()
    section("vectors", seq_seq=str(seq), head="2-3", seq_query="1")
    bars = frame_of(exported, "seq_vectors_bars").iloc[:3]
    [(n, weights)] = store.execute(
        "select n, attention from exemplar_attention where seq = ? and layer = 2 and head = 3",
        [seq],
    ).fetchall()
    norms = store.execute(
        "select value_norm from head_token where seq = ? and layer = 2 and head = 3 order by pos",
        [seq],
    ).df()["value_norm"]
    expected = np.array(weights).reshape(n, n)[1]
    names = frame_of(exported, "seq_vectors_arrows")["name"][:3]
    assert list(bars["name"]) == list(names)
    positions = [int(str(name)[-1].translate(LOWERED)) for name in names]
    np.testing.assert_allclose(bars["attention"], expected[positions], atol=1e-6)
    np.testing.assert_allclose(bars["value_norm"], norms[positions], rtol=1e-4)
