"""What the overview says of heads is what the file says."""

import pytest

from pages.ui.head.facts import LEAST
from tests.pages.conftest import sentences
from tests.pages.kit.copies import changes_of

treebank = changes_of("treebank_folder")
EVEN = "update stored.head_pattern set mean = 0.1 where quantity <> 'uniform'"


def numbers(session) -> list[str]:
    return [each.value for each in session.subheader]


def test_heads_of_one_habit_are_counted(findings_of, changed):
    one = "update stored.head_pattern set mean = 0.9 where quantity = '{}' and layer = 1"
    folder = changed(
        EVEN, one.format("next") + " and head = 1", one.format("sep") + " and head > 1"
    )
    session = findings_of("head_habits", folder)
    [told] = [each for each in sentences(session).splitlines() if "By the thresholds" in each]
    assert "next token 1" in told
    assert told.index("[SEP]") < told.index("next token")
    assert any(each.endswith(" heads") for each in numbers(session))


def test_no_head_of_any_habit_is_no_finding(findings_of, changed):
    assert "By the thresholds" not in sentences(findings_of("head_habits", changed(EVEN)))


@pytest.mark.parametrize(
    ("importance", "expected"),
    [(0.0, "much of that attention has little effect"), (99.0, "that attention matters")],
)
def test_attention_without_effect_differs_from_attention_that_matters(
    importance, expected, findings_of, changed
):
    folder = changed(
        EVEN,
        "update stored.head_pattern set mean = 0.5 where quantity = 'sep'",
        "update stored.gradient_importance set importance = 1, objective = 'masked_lm'",
        f"update stored.gradient_importance set importance = {importance} where token_type = 'sep'",
    )
    session = findings_of("head_habits", folder)
    told = sentences(session)
    assert expected in told
    assert "[SEP] gets most attention, 50 %" in told
    assert any(each.startswith("50 % → ") for each in numbers(session))


def test_a_stand_in_for_the_loss_is_told_as_one(findings_of, changed):
    folder = changed("update stored.gradient_importance set objective = 'pooled_length'")
    assert "L: not a loss but" in sentences(findings_of("head_habits", folder))


@pytest.mark.parametrize(
    ("difference", "p_value", "expected"),
    [
        (0.1, 0.01, "attend more alike than"),
        (0.1, 0.2, "do not clearly attend more alike"),
        (-0.1, 0.01, "do not clearly attend more alike"),
    ],
)
def test_layers_are_told_to_be_alike_where_chance_does_not_do_it(
    difference, p_value, expected, findings_of, changed
):
    folder = changed(
        f"update stored.layer_cohesion set within = 0.2, between = {0.2 + difference}, "
        f"difference = {difference}, p_value = {p_value}"
    )
    session = findings_of("head_map", folder)
    assert expected in sentences(session)
    assert f"0.20 → {0.2 + difference:.2f} nats" in numbers(session)


def test_the_relation_is_scored_where_its_head_was_not_chosen(findings_of, treebank):
    folder = treebank(
        f"update stored.dependency_best set n = {LEAST}, difference = 0.1, difference_low = -0.1",
        "update stored.dependency_best set accuracy = 0.875, layer = 2, head = 1, n_tried = 16, "
        "offset_accuracy = 0.375, difference = 0.5, difference_low = 0.4 "
        "where relation = 'nsubj' and merging = 'mean' and chosen_on = 'first'",
        "update stored.dependency_best set difference = 0.9 where chosen_on <> 'first'",
    )
    told = sentences(findings_of("syntax", folder))
    assert "layer 2, head 1, chosen on random half A of the sentences among 16" in told
    assert "is right for 88 % [" in told
    assert f"of {LEAST} words" in told
    assert "the best fixed offset there: 38 %. In 1 of " in told


def test_relations_of_few_words_are_no_finding(findings_of, treebank):
    folder = treebank(f"update stored.dependency_best set n = {LEAST - 1}")
    assert "chosen on random half A of the sentences" not in sentences(
        findings_of("syntax", folder)
    )


def test_antecedents_are_told_beside_the_rules(findings_of, treebank):
    folder = treebank(
        "update stored.coreference_best set accuracy = 0.75, baseline_accuracy = 0.25 "
        "where mention_type = 'all' and merging = 'mean' and chosen_on = 'first'"
    )
    session = findings_of("coreference", folder)
    assert "75 %" in numbers(session)
    told = sentences(session)
    for rule in ("nearest mention 25 %", "same head word 25 %", "sieve of rules 25 %"):
        assert rule in told


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_parsers_are_told_with_all_that_they_are_set_against(lang, findings_of, treebank):
    methods = ("attention_words", "attention", "distances_words", "right_branching")
    rows = [
        (name, 0.5 - place / 10)
        for place, name in enumerate((*methods, "attention_words_shuffled"))
    ]
    folder = treebank(
        "delete from stored.parser_accuracy",
        *(
            "insert into stored.parser_accuracy (method, seed, uas, n, n_train, n_test) "
            f"values ('{name}', {seed}, {uas + seed / 100}, 9, 9, 9)"
            for name, uas in rows
            for seed in (-1, 1)
        ),
        "update stored.manifest set n_rows = 10 where name = 'parser_accuracy'",
    )
    session = findings_of("syntax", folder, lang=lang)
    sign = {"en": " %", "ja": "%"}[lang]
    assert f"50{sign}" in numbers(session)
    told = [each for each in sentences(session).splitlines() if f"40{sign}" in each]
    assert any(all(f"{each}{sign}" in line for each in (50, 40, 30, 20, 10)) for line in told)
