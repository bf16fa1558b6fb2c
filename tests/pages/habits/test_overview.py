"""Findings on heads in the overview agree with the file."""

import pytest

from pages.habits.gradients import gradients
from pages.habits.heads import heads
from pages.syntax.parsers import parsers
from pages.syntax.relations import relations
from pages.ui.head.best_head import MIN_WORDS
from tests.pages.kit.after import said_in
from tests.pages.kit.inquiries import inquiry

EVEN = "update stored.head_pattern set mean = 0.1 where quantity <> 'uniform'"


def test_heads_of_one_habit_are_counted(after):
    after(EVEN)
    assert "By the thresholds" not in said_in(heads.findings(inquiry()))
    strong = "update stored.head_pattern set mean = 0.9 where quantity = '{}' and layer = 1"
    after(EVEN, strong.format("next") + " and head = 1", strong.format("sep") + " and head > 1")
    [finding] = heads.findings(inquiry())
    assert "By the thresholds" in finding.sentence
    assert finding.number == "3 of 6 heads"
    assert finding.evidence["value"].tolist() == [3, 3, 2, 1]
    assert "next token 1" in finding.sentence
    assert finding.sentence.index("[SEP]") < finding.sentence.index("next token")
    assert finding.number.endswith(" heads")
    assert "in 0 of " in finding.known_by
    after(
        EVEN, f"{strong.format('next')} and head = 1", "update stored.head_pattern set low = mean"
    )
    [finding] = heads.findings(inquiry())
    assert "in 1 of 1" in finding.known_by


@pytest.mark.parametrize(
    ("importance", "share", "side"), [(0.0, "0.0%", "below"), (9.0, "75%", "above")]
)
def test_the_gradient_of_the_type_with_most_weight_is_told_beside_that(
    importance, share, side, after
):
    after(
        EVEN,
        "update stored.head_pattern set mean = 0.5, low = 0.5, high = 0.5 where quantity = 'sep'",
        "update stored.gradient_importance set importance = 1, objective = 'masked_lm'",
        f"update stored.gradient_importance set importance = {importance} where token_type = 'sep'",
        "update stored.gradient_importance set low = importance, high = importance",
    )
    [finding] = gradients.findings(inquiry())
    assert f"50% of it; of all |∂L/∂α| {share} is due to that attention" in finding.sentence
    assert finding.number == f"50% → {share}"
    assert finding.side == side


def test_what_gradients_tell_has_an_interval_only_where_all_layers_have_one(after):
    after(
        "update stored.head_pattern set mean = 0.5, low = 0.4, high = 0.6 where quantity = 'sep'",
        "update stored.gradient_importance set importance = 1, low = 1, high = 1",
        "update stored.gradient_importance set low = 0.9, high = 1.1 where token_type = 'sep'",
        "update stored.gradient_importance set importance = 9, low = 8, high = 10 "
        "where token_type = 'sep' and layer = 1",
    )
    [finding] = gradients.findings(inquiry())
    shares = 9 / 12, 1 / 4
    lows, highs = (8 / 11, 0.9 / 3.9), (10 / 13, 1.1 / 4.1)
    row = finding.evidence.iloc[0]
    assert row["value"] == pytest.approx(sum(shares) / 2)
    assert (row["low"], row["high"]) == pytest.approx((sum(lows) / 2, sum(highs) / 2))
    assert finding.side == "unclear"
    after("update stored.gradient_importance set low = null, high = null where layer = 1")
    [finding] = gradients.findings(inquiry())
    assert finding.side == "unsure", "too few sequences leave no interval"


def test_a_stand_in_for_the_loss_is_told_as_one(after):
    after("update stored.gradient_importance set objective = 'pooled_length'")
    assert "L: not a loss but" in said_in(gradients.findings(inquiry()))


def test_the_relation_is_scored_where_its_head_was_not_chosen(after_trees):
    after_trees(
        f"update stored.dependency_best set n = {MIN_WORDS}, difference = 0.1, "
        "difference_low = -0.1",
        "update stored.dependency_best set accuracy = 0.875, layer = 2, head = 1, n_tried = 16, "
        "offset_accuracy = 0.375, difference = 0.5, difference_low = 0.4 "
        "where relation = 'nsubj' and merging = 'mean' and chosen_on = 'first'",
        "update stored.dependency_best set difference = 0.9 where chosen_on <> 'first'",
    )
    text = said_in(relations.findings(inquiry()))
    assert "layer 2, head 1, chosen on random half A of the sentences among 16" in text
    assert "is right for 88% [" in text
    assert f"of {MIN_WORDS} words" in text
    assert "the best fixed offset there: 38%. It is the widest gap of " in text
    assert "in 1 of them the difference is clear of 0" in text
    assert text.startswith("+50.0 points")
    after_trees(f"update stored.dependency_best set n = {MIN_WORDS - 1}")
    assert not list(relations.findings(inquiry())), "relations of few words are no finding"


def test_parsers_are_told_with_all_that_they_are_set_against(after_trees):
    methods = ("attention_words", "attention", "distances_words", "right_branching")
    rows = [
        (name, 0.5 - place / 10)
        for place, name in enumerate((*methods, "attention_words_shuffled"))
    ]
    after_trees(
        "delete from stored.parser_accuracy",
        *(
            "insert into stored.parser_accuracy (method, seed, uas, n, n_train, n_test) "
            f"values ('{name}', {seed}, {uas + seed / 100}, 9, 9, 9)"
            for name, uas in rows
            for seed in (-1, 1)
        ),
    )
    [finding] = parsers.findings(inquiry())
    assert finding.number == "50%"
    assert all(f"{share}%" in finding.sentence for share in (50, 40, 30, 20, 10))
    assert "49% to 51% over 2 splits" in finding.known_by
    assert "in 2 of 2" in finding.known_by
