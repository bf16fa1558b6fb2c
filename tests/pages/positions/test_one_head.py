"""Figures on one head agree with the file, and signs have the meaning that the page states."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages.positions import phases
from tests.pages.conftest import in_address, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.figures import chart_of, frame_of

HEAD = {"head": "2-1"}
HOSTILE = "<script>alert(1)</script> **bold** $x$"
WHERE = "layer = 2 and head = 1"


@pytest.fixture(scope="module")
def leaning(store_folder, tmp_path_factory) -> Path:
    """Folder of a file whose most position-dependent head prefers a negative offset."""
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("leaning"),
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.125, attention_offset = -2, "
        f"attention_offset_per_pair = 0, score_offset = 7, score_offset_per_pair = 1 where {WHERE}",
        f"update stored.query_key_singular_value set value = 1 where {WHERE}",
        "update stored.query_key_phase set amplitude = list_transform(amplitude, "
        "lambda a: case when phase > 0 then 3 else 1 end)",
        f"update stored.sequence set text = '{HOSTILE}'",
    )


def test_the_head_that_depends_most_on_position_comes_first(section, leaning):
    session = section("one_head", leaning)
    assert session.session_state["head"] == "2-1"
    assert in_address(session, "head") == []


def test_the_card_tells_the_numbers_of_the_head(section, leaning):
    numbers = {metric.label: metric.value for metric in section("one_head", leaning).metric}
    assert numbers["η²"] == "0.12"
    assert numbers["attention offset"] == "−2 / 0"
    assert numbers["score offset"] == "+7 / +1"
    assert numbers["largest sⱼ"] == "1.00"


def test_the_side_that_phases_lean_to_is_told_beside_attention(section, leaning):
    text = sentences(section("one_head", leaning))
    assert "200.0% larger in the upper half: to the left. Most attention goes to offset −2" in text
    assert "times as strong as usual at its frequency" in text


def test_the_profile_is_the_mean_over_texts(section, exported, answers):
    section("one_head", **HEAD)
    shown = frame_of(exported, "po_one_head_profile_2_1")
    expected = answers(
        "select avg(profile[11] / n_tokens), quantile_cont(profile[11] / n_tokens, 0.75) "
        f"from sequence_relative_position where {WHERE}"
    )
    row = shown[shown["offset"] == 0].iloc[0]
    assert (row["mean"], row["q75"]) == pytest.approx(expected[0])


def waves(phase: float, frequencies: list[float]) -> pd.DataFrame:
    """A plane whose waves are strong, its conjugate, and two that are not turned."""
    strong = {phase: 5.0, -phase: 1.0, 0.0: 1.0, np.pi: 1.0}
    rows = [(p, f, a) for p, a in strong.items() for f in frequencies]
    return pd.DataFrame(rows, columns=["phase", "frequency", "amplitude"])


@pytest.mark.parametrize(("phase", "sign"), [(0.5, 1), (-0.5, -1)])
def test_amplitude_above_leans_to_the_left_and_below_to_the_right(phase, sign):
    frame = phases.relative(waves(phase, [16.0, 32.0]))
    assert np.sign(phases.lean(frame)) == sign


@pytest.mark.parametrize(("measure", "largest"), [("amplitude", 5.0), ("relative", 2.5)])
def test_bins_tell_the_largest_of_their_planes(measure, largest):
    cells = phases.binned(phases.relative(waves(0.5, [16.0, 32.0, 48.0])), measure)
    top = cells[cells[measure] == cells[measure].max()]
    assert top[measure].tolist() == pytest.approx([largest] * 3)
    assert (top["y"] <= 0.5).all()
    assert (top["y2"] >= 0.5).all()
    assert top["x"].tolist() == pytest.approx([8.0, 24.0, 40.0])
    assert cells["y2"].max() == pytest.approx(np.pi)


def test_many_frequencies_are_drawn_with_few_marks():
    frequencies = np.arange(1.0, 257.0)
    turned = np.linspace(-np.pi, np.pi, 128)[1:]
    rows = [(phase, f, 1.0) for phase in turned for f in frequencies]
    frame = pd.DataFrame(rows, columns=["phase", "frequency", "amplitude"])
    cells = phases.binned(frame, "amplitude")
    assert len(cells) <= 20_000
    assert cells["x2"].max() >= 256


def test_both_peaks_are_told_and_marked(section, exported, answers):
    session = section("one_head", **HEAD, po_reach="10", po_counting="per_pair")
    shown = frame_of(exported, "po_one_head_correlations_2_1_10_per_pair")
    assert shown["offset"].abs().max() <= 10
    ((score, attention),) = answers(
        f"select score_offset_per_pair, attention_offset_per_pair from head_offset where {WHERE}"
    )
    chart = chart_of(exported, "po_one_head_correlations")
    units = [part.layer[-2].encoding.y["title"] for part in chart.concat[1:]]
    assert units == ["score per pair", "weight α per pair"]
    rules = [part.layer[0].data["offset"].tolist() for part in chart.concat[1:]]
    assert rules == [[score], [attention]]
    text = sentences(session)
    assert "both peak at" in text if score == attention else "does not predict the other" in text


def test_a_causal_model_has_nothing_to_the_right(section, gpt2_folder, exported):
    section("one_head", gpt2_folder, **HEAD)
    chart = chart_of(exported, "po_one_head_correlations")
    assert chart.concat[0].data["offset"].max() <= 0
    assert frame_of(exported, "po_one_head_correlations")["offset"].max() == 0
    assert frame_of(exported, "po_one_head_profile_")["offset"].max() == 0
    cells = frame_of(exported, "po_one_head_map_")
    assert (cells["key_pos"] <= cells["query_pos"]).all()


def test_the_highest_plane_is_named_with_its_shift_in_tokens():
    turn = 2 * np.pi * 64.0 * 1.5 / 512  # a shift of 1.5 tokens
    frame = phases.relative(waves(turn, [32.0, 64.0]))
    frame.loc[frame["frequency"] == 64.0, "relative"] *= 4
    frame.loc[(frame["phase"] == np.pi), "relative"] = 99.0  # half a turn has no side
    [peak] = phases.highest_plane(frame).to_dict("records")
    assert peak == pytest.approx({"frequency": 64, "phase": turn, "relative": 10, "shift": 1.5})
    assert phases.highest_plane(frame.assign(relative=np.nan)).empty
