"""Vectors of a head for one token: which are drawn, where they lie, and what they sum to."""

import numpy as np
import pytest

from pages.kit.run import Run, within
from pages.sequences.vectors import Parts
from tests.pages.kit.figures import frame_of

SHORT = "The dog."
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
PLANE = np.array([[3.0, 0, 0], [0, 2.0, 0], [0, 0.5, 0], [-1.0, 0, 0], [0, 0, 8.0]])


@pytest.fixture(autouse=True)
def words():
    with within(Run(words=("sequences", "vectors"))):
        yield


def parts(weights: list[float], vectors: np.ndarray = PLANE) -> Parts:
    return Parts(list("abcde"), np.array(weights), vectors)


def test_bars_are_exact_and_end_with_the_rest_and_the_sum():
    bars = parts([0.1, 0.2, 0.6, 0.05, 0.05]).bars
    assert list(bars["name"][:3]) == ["c", "b", "e"]
    np.testing.assert_allclose(bars["value_norm"][:3], [0.5, 2, 8])
    np.testing.assert_allclose(bars["weighted_norm"][:3], [0.3, 0.4, 0.4])
    np.testing.assert_allclose(bars["attention"][3:], [0.15, 1])
    total = np.array([0.3 - 0.05, 0.4 + 0.3, 0.4])
    np.testing.assert_allclose(bars["weighted_norm"][3:], np.array([0.25, np.linalg.norm(total)]))


def test_vectors_of_a_plane_are_drawn_as_long_as_they_are():
    arrows = parts([0.4, 0.3, 0.2, 0.1, 0.0]).arrows
    np.testing.assert_allclose(arrows["in_plane"], 1)
    np.testing.assert_allclose(np.hypot(arrows["x"], arrows["y"]), arrows["length"])
    after = arrows[arrows["panel"] == "after"].set_index("name")[["x", "y"]]
    *kept, total = after.to_numpy()
    np.testing.assert_allclose(np.sum(kept, axis=0), total, atol=1e-12)


def test_vectors_that_cancel_have_a_sum_of_0_and_no_share():
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
