"""Weights or norms on the page on syntax, and what norms gain or lose."""

import pytest

from tests.pages.conftest import sentences


@pytest.mark.parametrize("weighing", ["weight", "norm"])
def test_published_heads_and_maps_of_weights_are_of_weights_alone(weighing, section):
    labels = [fold.label for fold in section("relations", sy_weighing=weighing).expander]
    assert any("Published" in label for label in labels) == (weighing == "weight")
    captions = [caption.value for caption in section("sentences", sy_weighing=weighing).caption]
    assert any("arcs above use norms" in caption for caption in captions) == (weighing == "norm")


def test_the_finding_counts_relations_that_are_clear_of_0(section, after, answers):
    after(
        "update stored.dependency_difference set accuracy_weight = 0.5, accuracy_norm = 0.6, "
        "difference = 0.1, low = -0.1, high = 0.2",
        "update stored.dependency_difference set low = 0.05 where relation = 'det'",
        "update stored.dependency_difference set accuracy_norm = 0.2, difference = -0.3, "
        "low = -0.4, high = -0.25 where relation = 'nsubj'",
    )
    ((n,),) = answers(
        "select count(*) from dependency_difference where merging = 'mean' "
        "and chosen_on = 'first' and relation not in ('all', 'all_words')"
    )
    text = sentences(section("weighing", sy_least="1"))
    assert f"more governors in 1 of {n} relations and fewer in 1 (the 95%" in text
    assert "largest change is for nsubj: 50.0% → 20.0%, −30.0 points [−40.0, −25.0]" in text
    assert "Over all words: 50.0% → 60.0%, +10.0 points [−10.0, +20.0]" in text
