"""Relevance over a corpus: charts and sentences agree with the file."""

import json

import pytest

from analysis.relevance_rules import MEAN_WEIGHTS, RULES
from pages.relevance.corpus import corpus
from pages.relevance.methods import methods
from pages.relevance.rule_lines import layer_lines
from pages.relevance.rules import rule_name
from pages.ui.charts.colours import RELEVANCE_RULE_COLOURS
from pages.ui.export import files as export
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.figures import chart_of, frame_of
from tests.pages.kit.inquiries import inquiry
from tests.tiny import LAYERS


@pytest.mark.parametrize("quantity", ["mask_gain", "pointing", "pointing_gain"])
def test_every_quantity_of_images_is_drawn(quantity, section, images_folder, exported):
    session = section("corpus", images_folder, re_quantity=quantity)
    assert session.session_state["re_quantity"] == quantity
    assert len(charts(session)) == 2
    assert set(frame_of(exported, "re_corpus_layers")["quantity"]) == {quantity}
    if quantity == "pointing":
        assert "NaN" not in export.svg(chart_of(exported, "re_corpus_layers"))


def test_masks_are_asked_for_only_where_there_are_some(section):
    session = section("corpus", re_quantity="mask_share")
    assert session.session_state["re_quantity"] == "cls_share"


def test_the_sentence_names_the_largest_and_the_smallest(section, after):
    of_last = f"quantity = 'cls_share' and layer = {LAYERS} and head is null"
    after(
        f"update stored.relevance_summary set mean = 0.5, low = 0.5, high = 0.5 where {of_last}",
        f"update stored.relevance_summary set mean = 0.75, low = 0.7 where {of_last} "
        "and rule = 'ii'",
        f"update stored.relevance_summary set mean = 0.25, low = 0.2 where {of_last} "
        "and rule = 'iv'",
    )
    text = sentences(section("corpus"))
    assert "largest by rule ii: 75.0% [70.0, 50.0], and smallest by rule iv: 25.0%" in text


def test_a_share_is_set_against_an_even_map_and_no_gain_that_could_be_chance_is_called_one(
    section, images_folder, after_images, exported
):
    planted = (
        "update stored.relevance_summary set mean = 0.6 where quantity = 'mask_share'",
        "update stored.relevance_summary set mean = 0.2, low = -0.1 where quantity = 'mask_gain'",
    )
    above = "update stored.relevance_summary set low = 0.1 where quantity = 'mask_gain' "
    after_images(*planted, f"{above} and rule = 'ii'")
    text = sentences(section("corpus", images_folder, re_quantity="mask_share"))
    assert "An even map would have 40.0%" in text
    assert "interval above 0: rule ii." in text
    chart = chart_of(exported, "re_corpus_layers")
    assert "an even map" in json.dumps(chart.to_dict())
    after_images(*planted)
    text = sentences(section("corpus", images_folder, re_quantity="mask_share"))
    assert "none of these is beyond that" in text


def test_what_is_drawn_can_be_chosen_and_has_one_colour(section, exported):
    section("corpus", re_rules=["ii", "ii_mean_weights", "norm_rollout"])
    assert list(frame_of(exported, "re_corpus_layers")["rule"].unique()) == [
        "ii",
        "ii_mean_weights",
        "norm_rollout",
    ]
    pairs = zip(RULES, MEAN_WEIGHTS, strict=True)
    assert all(RELEVANCE_RULE_COLOURS[rule] == RELEVANCE_RULE_COLOURS[mean] for rule, mean in pairs)
    assert len({RELEVANCE_RULE_COLOURS[rule] for rule in RULES}) == len(RULES)


def test_what_starts_after_one_layer_alone_has_an_interval_too(
    section, images_folder, after_images, exported
):
    after_images("update stored.relevance_summary set low = mean - 0.1, high = mean + 0.1")
    section("corpus", images_folder, re_quantity="entropy", re_rules=["i", "gradient_attention"])
    chart = chart_of(exported, "re_corpus_layers")
    spec = chart.to_dict()
    (alone,) = (layer for layer in spec["layer"] if layer["mark"]["type"] == "rule")
    rows = spec["datasets"][alone["data"]["name"]]
    assert [row["rule"] for row in rows] == ["gradient_attention"]
    assert rows[0]["low"] <= rows[0]["mean"] <= rows[0]["high"]


def test_rules_on_mean_weights_are_dashed(section, exported, on_page):
    section("corpus")
    frame = frame_of(exported, "re_corpus_layers")
    chart = layer_lines(frame, rules=["i", "i_mean_weights"], quantity="entropy").to_dict()
    scale = chart["layer"][0]["encoding"]["strokeDash"]["scale"]
    dashes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert dashes[rule_name("i")] != dashes[rule_name("i_mean_weights")]


def test_the_texts_with_most_are_listed_for_the_chosen_head(section, answers):
    session = section("corpus", re_head_rule="iii", re_layer="1", re_head="2")
    expected = answers(
        "select seq from sequence_relevance where rule = 'iii' and layer = 1 and head = 2 "
        "order by cls_share desc, seq"
    )
    most = frames(session)[0]
    assert most["seq"].tolist() == [seq for (seq,) in expected]


def test_special_tokens_are_told_only_where_there_are_others_than_cls(section, images_folder):
    of_texts = section("corpus", lang="ja", re_quantity="special_share")
    assert of_texts.session_state["re_quantity"] == "special_share"
    of_images = section("corpus", images_folder, re_quantity="special_share")
    assert of_images.session_state["re_quantity"] != "special_share"


def test_what_is_kept_of_the_whole_is_told_and_sequences_whose_maps_are_not_have_no_link(
    section, after
):
    after(
        "update stored.sequence_relevance set conservation_error = 2e-7, n_in_place = 0",
        "update stored.sequence_relevance set n_in_place = 3 "
        "where rule = 'ii' and layer = 1 and head = 1 and seq = 0",
        "delete from stored.relevance_map where seq > 0",
    )
    session = section("corpus", re_quantity="entropy", re_head_rule="i")
    text = sentences(session)
    assert "to within 2.0·10⁻⁷" in text
    assert "In 3 cases" in text
    seq = frames(session)[0]["seq"][0]
    assert seq > 0
    assert any(f"number {seq} are not kept" in caption.value for caption in session.caption)
    after("update stored.sequence_relevance set n_in_place = 0 where n_in_place is not null")
    assert "No token had to keep its relevance" in sentences(section("corpus"))


@pytest.mark.parametrize(("low", "side"), [(0.01, "above"), (-0.01, "unclear")])
def test_findings_on_images_are_told_by_their_intervals(low, side, after_images):
    after_images(
        f"update stored.relevance_summary set mean = 0.02, low = {low}, high = 0.03 "
        "where quantity = 'mask_gain'",
        "update stored.perturbation set mean = 0.6, low = 0.5, high = 0.7 where share is null",
        f"update stored.perturbation set mean = 0.3, low = 0.2, high = {0.5 - 10 * low} "
        "where share is null and rule <> 'random'",
    )
    assert next(corpus.findings(inquiry())).side == side
    [finding] = methods.findings(inquiry())
    assert finding.side == side.replace("above", "below")
