"""Maps, pairs and vectors of one sequence: numbers are those of the file, and texts are safe."""

import re
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from pages.kit.run import Run, within
from pages.sequences.maps import attention_moved
from pages.sequences.vectors import Parts
from pages.services.live_model import LONGEST
from tests.pages.conftest import bodies, captions, charts, in_address, sentences
from tests.pages.kit.openings import frame_of

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


def value_norms(store, seq: int) -> np.ndarray:
    """Lengths of the vectors of L2·H3 in a sequence."""
    norms = (
        "select value_norm from head_token where layer = 2 and head = 3 and seq = ? order by pos"
    )
    return store.execute(norms, [seq]).df()["value_norm"].to_numpy()


@pytest.fixture
def short(store) -> int:
    """A sequence of which the file keeps the weights between all tokens."""
    return store.execute("select seq from sequence where text = ?", [SHORT]).fetchall()[0][0]


def test_weights_and_norms_of_ones_own_text_are_those_of_the_file(section, exported, store, short):
    section("map", head="2-3", **OWN)
    frame, kept = frame_of(exported, "seq_map_panels"), kept_map(store, seq=short, layer=2, head=3)
    np.testing.assert_allclose(square(frame, "weight"), kept, atol=1e-6)
    expected = kept * value_norms(store, short)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(square(frame, "norm"), expected, atol=NOISE)
    lines = frame_of(exported, "seq_map_lines")
    drawn = kept[lines["query_pos"], lines["key_pos"]]
    np.testing.assert_allclose(lines["share"], drawn, atol=1e-6)
    grid = frame_of(exported, "seq_map_grid").set_index(["layer", "head"])
    others = (kept - np.diag(kept.diagonal())).mean(axis=0)
    np.testing.assert_allclose(grid.loc[(2, 3), "attention"], others.max(), atol=1e-6)


LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def test_lengths_of_the_section_are_those_of_the_file(section, exported, store, short):
    section("vectors", seq_seq=str(short), head="2-3", seq_query="1")
    bars = frame_of(exported, "seq_vectors_bars").iloc[:3]
    names = frame_of(exported, "seq_vectors_arrows")["name"][:3]
    assert list(bars["name"]) == list(names)
    positions = [int(str(name)[-1].translate(LOWERED)) for name in names]
    expected = kept_map(store, seq=short, layer=2, head=3)[1]
    np.testing.assert_allclose(bars["attention"], expected[positions], atol=1e-6)
    np.testing.assert_allclose(bars["value_norm"], value_norms(store, short)[positions], rtol=1e-4)


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


def test_half_of_all_differences_counts_with_all_that_goes_to_tokens_of_one_run_alone():
    before = np.array([[[0.5, 0.5], [0.2, 0.8]]])
    after = np.array([[[0.1, 0.6, 0.3], [0.0, 1.0, 0.0], [0.2, 0.4, 0.4]]])
    same = [(0, 0), (1, 2)]
    first, second = (0.4 + 0.2 + 0.6) / 2, (0.0 + 0.4 + 0.4) / 2
    np.testing.assert_allclose(attention_moved(before, after, same), [(first + second) / 2])
    np.testing.assert_array_equal(attention_moved(before, before, [(0, 0), (1, 1)]), [0.0])
    assert np.isnan(attention_moved(before, after, []))


def test_a_text_of_a_link_is_escaped_and_bound_by_its_length(section):
    session = section("map", seq_whose="own", seq_text=HOSTILE)
    assert charts(session)
    shown = "\n".join((sentences(session), captions(session), bodies(session)))
    assert "<script" not in shown
    assert "](javascript" not in shown
    assert in_address(session, "seq_text") == [HOSTILE]
    session = section("map", seq_whose="own", seq_text="語" * (LONGEST + 500))
    assert not charts(session)
    assert f"{LONGEST:,}" in session.info[0].value


def test_changes_of_pairs_are_those_of_the_file(section, exported, store):
    section("pairs")
    kept = store.execute("from pair_occurrence where layer = 1 and effect = 'ff' and seq = 0").df()
    kept = kept.set_index(["source_pos", "target_pos"])["delta"]
    sides = [frame_of(exported, f"seq_pairs_{name}") for name in ("amplified", "attenuated")]
    every: Any = pd.concat(sides)
    checked = []
    for pair, side, delta in every[["pair", "side", "in_points_delta"]].to_numpy():
        place = tuple(int(normalize("NFKC", digits)) for digits in re.findall("[₀-₉]+", pair))
        if side == "here" and place in kept:
            checked.append((delta, 100 * kept[place]))
    assert len(checked) > 5, "this test could not have failed"
    found, expected = np.transpose(checked)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_bars_and_arrows_of_vectors_are_exact():
    plane = np.array([[3.0, 0, 0], [0, 2.0, 0], [0, 0.5, 0], [-1.0, 0, 0], [0, 0, 8.0]])
    with within(Run(words=("sequences", "vectors"))):
        bars = Parts(list("abcde"), np.array([0.1, 0.2, 0.6, 0.05, 0.05]), plane).bars
        arrows = Parts(list("abcde"), np.array([0.4, 0.3, 0.2, 0.1, 0.0]), plane).arrows
    assert list(bars["name"][:3]) == ["c", "b", "e"]
    total = np.linalg.norm([0.3 - 0.05, 0.4 + 0.3, 0.4])
    assert bars["weighted_norm"].tolist() == pytest.approx([0.3, 0.4, 0.4, 0.25, total])
    np.testing.assert_allclose(np.hypot(arrows["x"], arrows["y"]), arrows["length"])
    *kept, total = arrows[arrows["panel"] == "after"][["x", "y"]].to_numpy()
    np.testing.assert_allclose(np.sum(kept, axis=0), total, atol=1e-12)
