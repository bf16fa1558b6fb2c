"""Findings on relations and parsers in the overview agree with the file."""

from pages.syntax.parsers import parsers
from pages.syntax.relations import relations
from pages.ui.head.best_head import MIN_WORDS
from tests.pages.kit.after import said_in
from tests.pages.kit.inquiries import inquiry


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
