"""Comparison of methods: maps, agreement, and perturbation curves."""

from itertools import chain

import pytest

from analysis.relevance_rules import ALL
from pages.ui.export import files as export
from tests.pages.conftest import bodies, charts, frames, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import figure_of


def test_a_rule_is_not_praised_for_agreeing_with_itself_and_the_best_are_set_against_random_order(
    section, images_folder, after_images
):
    areas = "update stored.perturbation set mean = {}, low = 0, high = 1 where share is null {}"
    after_images(
        "update stored.relevance_agreement set mean = 0.5 where rule_a <> rule_b",
        "update stored.relevance_agreement set mean = 0.99 "
        "where rule_a in ('ii', 'ii_mean_weights') and rule_b in ('ii', 'ii_mean_weights')",
        "update stored.relevance_agreement set mean = 0.75 "
        "where rule_a in ('i', 'iv') and rule_b in ('i', 'iv')",
        "update stored.relevance_agreement set mean = -0.25 "
        "where rule_a in ('iii', 'attention') and rule_b in ('iii', 'attention')",
        areas.format(0.5, ""),
        areas.format(0.25, "and curve = 'deletion' and rule = 'ii'"),
        areas.format(0.75, "and curve = 'insertion' and rule = 'iv'"),
        areas.format(0.0625, "and curve = 'deletion' and rule = 'random'"),
    )
    text = sentences(section("methods", images_folder))
    assert "Lowest ρ: attention weights and rule iii, −0.25" in text
    assert "rule i and rule iv, 0.75" in text
    overlap = "Their 95% intervals overlap: no clear difference."
    assert (
        f"fastest by rule ii**: area 0.25 [0.00, 1.00], random order 0.06 [0.00, 1.00]. {overlap}"
        in text
    )
    assert (
        f"fastest by rule iv**: area 0.75 [0.00, 1.00], random order 0.50 [0.00, 1.00]. {overlap}"
        in text
    )


def test_curves_and_areas_are_those_of_the_file(section, images_folder, exported, image_answers):
    session = section("methods", images_folder, re_curve_rules=["iii", "random"])
    frame, chart = figure_of(exported, "re_methods_change")
    expected = image_answers(
        "select rule, curve, share, mean from perturbation "
        "where share is not null and rule in ('iii', 'random')"
    )
    shown = frame[["rule", "curve", "share", "mean"]].to_records(index=False).tolist()
    assert sorted(shown) == sorted(expected)
    assert "NaN" not in export.svg(chart)
    areas = frames(session)[-1].set_index("name")
    ((area,),) = image_answers(
        "select mean from perturbation where share is null and rule = 'iii' and curve = 'deletion'"
    )
    assert areas.loc["rule iii", "area_deletion_mean"] == area
    assert "random order" in areas.index


def test_what_a_file_of_images_lacks_is_named_with_the_command(section, changed_images):
    tables = ("relevance_agreement", "perturbation")
    session = section("methods", changed_images(*chain.from_iterable(map(lacking, tables))))
    for table in tables:
        assert table in session.info[0].value
        assert table in "".join(code.value for code in session.code)
    assert len(charts(session)) == 1


def test_without_a_classifier_no_command_makes_curves(section, changed_images):
    folder = changed_images(*lacking("perturbation"), *lacking("class_prediction"))
    session = section("methods", folder)
    assert any("this one does not" in caption.value for caption in session.caption)
    assert not session.info
    assert len(charts(session)) == 2


def test_a_text_is_shaded_by_every_method_and_has_no_curves(section, exported, answers):
    session = section("methods", lang="ja")
    frame, _ = figure_of(exported, "re_methods_over_text")
    rules = [rule for rule in ALL if rule != "gradient_attention"]
    assert [column for column in frame.columns if column in ALL] == rules
    ((expected,),) = answers(
        "select relevance from relevance_map where seq = 0 and rule = 'norm_rollout' "
        "and head is null order by layer desc limit 1"
    )
    assert frame["norm_rollout"].tolist() == pytest.approx(expected)
    assert bodies(session).count('class="an-text"') == len(rules)
    assert not any(key.startswith("re_methods_change") for key in exported)
    assert any("画像についてのみ" in caption.value for caption in session.caption)
