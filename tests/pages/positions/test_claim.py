"""The claim over all heads: its numbers are those of the file, and what disagrees is told."""

import numpy as np
import pytest

from analysis.tables.positions.offset_agreement import COUNTINGS
from pages.ui.words.numbers import percent, signed
from pages.ui.words.offsets import offset_told
from tests.pages.conftest import frames, sentences
from tests.pages.kit.figures import frame_of


@pytest.mark.parametrize("counting", list(COUNTINGS))
def test_agreement_is_told_with_chance_and_without_an_interval_of_few_heads(
    counting, section, told
):
    said = sentences(section("claim", po_counting=counting))
    ((n, agreement, low, chance),) = told(
        "select n_heads, agreement, agreement_low, chance from offset_agreement "
        f"where counting = '{counting}' and min_dependence = 0 and layer is null"
    )
    assert f"**{round(n * agreement)} of {n} heads ({percent(agreement)})" in said
    assert f"at random, {percent(chance)} would" in said
    assert low is None
    assert "(too few heads for an interval)" in said


def test_agreement_is_told_with_its_interval(section, changed):
    folder = changed(
        "update stored.offset_agreement set agreement_low = 0.25, agreement_high = 0.75"
    )
    assert "(95 % interval over heads: 25 % to 75 %)" in sentences(section("claim", folder))


@pytest.mark.parametrize(
    ("low", "chance", "verdict"),
    [(0.6, 0.3, "That is more than chance."), (0.2, 0.3, "not clearly more than chance")],
)
def test_a_verdict_is_above_chance_only_if_the_whole_interval_is(
    low, chance, verdict, section, changed
):
    folder = changed(
        f"update stored.offset_agreement set agreement = 0.8, agreement_low = {low}, "
        f"agreement_high = 0.9, chance = {chance}"
    )
    assert verdict in sentences(section("claim", folder))


def test_spearman_is_told_or_said_to_be_missing(section, changed):
    known = changed(
        "update stored.offset_agreement set spearman = 0.25, spearman_low = -0.5, "
        "spearman_high = 0.75"
    )
    assert f"{signed(0.25)} [{signed(-0.5)}, {signed(0.75)}]" in sentences(section("claim", known))
    unknown = changed(
        "update stored.offset_agreement set spearman = null, spearman_low = null, "
        "spearman_high = null"
    )
    assert "no rank correlation" in sentences(section("claim", unknown))


@pytest.mark.parametrize("counting", list(COUNTINGS))
def test_every_head_is_in_the_map_and_in_the_table(counting, section, exported, told):
    session = section("claim", po_counting=counting)
    head = session.session_state["head"].replace("-", "_")
    expected = told(
        f"select layer, head, {', '.join(COUNTINGS[counting])} "
        "from head_offset where dependence is not null order by layer, head"
    )
    shown, _ = exported[f"po_claim_map_{counting}_0_{head}"]
    rows = shown.sort_values(["layer", "head"])[["layer", "head", "score", "attention"]]
    assert [tuple(row) for row in rows.to_numpy()] == expected
    (listed,) = (each for each in frames(session) if "agree" in each)
    assert listed["dependence"].is_monotonic_decreasing
    assert listed["agree"].sum() == sum(score == attention for *_, score, attention in expected)


OFFSETS = "update stored.head_offset set dependence = 0.3, "


def test_what_disagrees_is_told_with_its_side_and_edge(section, changed):
    folder = changed(
        OFFSETS + "score_offset = -1, attention_offset = -1",
        "update stored.head_offset set score_offset = 10, attention_offset = 2, "
        "dependence = 0.4 where layer = 1 and head = 2",
        "update stored.head_offset set score_offset = 3, attention_offset = -2 "
        "where layer = 2 and head = 3",
    )
    said = sentences(section("claim", folder))
    assert "**2 heads disagree.** 1 of them still agree on the side" in said
    assert "In 1 of them the score peaks at ±10" in said
    assert "is layer 1, head 2 (η² = 0.40): score +10, attention +2." in said


def test_no_disagreement_is_claimed_where_all_agree(section, changed):
    folder = changed(OFFSETS + "score_offset = 4, attention_offset = 4")
    assert "No head disagrees." in sentences(section("claim", folder))


def test_agreement_on_the_token_itself_is_told_apart(section, changed):
    folder = changed(
        OFFSETS + "score_offset = 1, attention_offset = 1",
        "update stored.head_offset set score_offset = 0, attention_offset = 0 where layer = 2",
    )
    assert "Of the 6 that agree, 3 do so at offset 0" in sentences(section("claim", folder))
    folder = changed(OFFSETS + "score_offset = 1, attention_offset = 1")
    assert "at offset 0" not in sentences(section("claim", folder))


def test_heads_that_depend_less_on_position_are_left_out(section, changed, exported):
    folder = changed(
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.3 where layer = 1 and head < 3",
    )
    section("claim", folder, po_least="0.25")
    shown = frame_of(exported, "po_claim_map")
    assert shown[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2]]


def test_a_limit_that_no_head_reaches_is_told(section, changed):
    folder = changed("update stored.head_offset set dependence = 0.05")
    session = section("claim", folder, po_least="0.5")
    assert "No head has η² ≥ 0.5" in session.info[0].value


def test_too_few_heads_have_no_agreement(section, changed):
    folder = changed("delete from stored.offset_agreement where min_dependence = 0")
    assert "too few for an agreement" in sentences(section("claim", folder))


def test_the_agreement_of_every_layer_is_drawn_beside_its_chance(section, exported, told):
    section("claim")
    shown, chart = exported["po_claim_layers_sum_0"]
    columns = ["layer", "n_heads", "agreement", "chance"]
    expected = told(
        f"select {', '.join(columns)} from offset_agreement where counting = 'sum' "
        "and min_dependence = 0 and layer is not null order by layer"
    )
    assert shown[columns].to_numpy() == pytest.approx(np.array(expected))
    assert {layer.mark.type for layer in chart.layer} == {"rule", "tick", "circle"}


@pytest.mark.parametrize(("offset", "written"), [(0, "0"), (3, "+3"), (-10, "−10")])
def test_offsets_are_written_with_their_sign(offset, written):
    assert offset_told(offset) == written


def test_a_causal_model_is_said_to_have_no_right_side(section, gpt2_folder, exported):
    session = section("claim", gpt2_folder)
    assert "This model is causal" in sentences(session)
    shown = frame_of(exported, "po_claim_map")
    assert (shown[["score", "attention"]].to_numpy() <= 0).all()
    assert "This model is causal" not in sentences(section("claim"))
