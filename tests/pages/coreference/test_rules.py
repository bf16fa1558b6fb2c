"""The best head against the rules: numbers are the file's, and verdicts follow from them."""

import pandas as pd
import pytest

from analysis.published.heads import numbers
from analysis.statistics.probing import coreference_best
from pages.coreference.names import type_name
from pages.coreference.rules import _on_halves, antecedents
from pages.ui.words.scope import words_of
from tests.pages.conftest import sentences
from tests.pages.kit.figures import figure_of
from tests.pages.kit.inquiries import inquiry, view_of

TYPES = ("all", "pronoun", "proper", "nominal")
METHODS = ("head", "nearest", "head_match", "sieve")


ABOVE, BELOW, AROUND = (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1)


def sentence_on_halves() -> str:
    """The section's sentence on the best heads of both halves over all mentions."""
    choices = {"weighing": "weight", "merging": "mean"}
    best = inquiry().ask_each(coreference_best.best, "chosen_on", ("first", "second"), **choices)
    best = best[best["mention_type"] == "all"]
    with words_of("coreference", "rules"):
        return _on_halves(view_of("co", "rules"), best)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        (ABOVE, ABOVE, "better than the sieve, beyond"),
        (BELOW, BELOW, "worse than the sieve, beyond"),
        (AROUND, AROUND, "not beyond"),
        (BELOW, ABOVE, "not beyond"),
    ],
)
def test_the_verdict_follows_from_both_halves(one, other, verdict, after):
    after(
        *(
            f"update stored.coreference_best set difference_low = {low}, "
            f"difference_high = {high} where chosen_on = '{part}'"
            for part, (low, high) in (("first", one), ("second", other))
        )
    )
    assert verdict in sentence_on_halves()


def test_too_few_texts_for_halves_are_told_and_few_mentions(section, after):
    assert "fewer than 100 mentions" in sentences(section("rules"))
    after(
        "delete from stored.coreference_best where chosen_on <> 'all'",
        "update stored.coreference_best set n = 100",
    )
    text = sentences(section("rules"))
    assert "too few to choose a head on one random half" in text
    assert "fewer than" not in text


def test_intervals_stand_beside_their_numbers_where_there_are_any(section, after, exported):
    tables = ("coreference_best", "coreference_accuracy")
    after(*(f"update stored.{table} set low = 0.1, high = 0.9" for table in tables))
    assert "% [10%, 90%] of the" in sentences(section("rules"))
    _, chart = figure_of(exported, "co_rules_bars")
    assert [layer.mark.type for layer in chart.layer] == ["bar", "rule", "rule"]


def test_every_group_of_bars_tells_its_number_of_mentions(section, exported, answers):
    section("rules")
    frame, chart = figure_of(exported, "co_rules_bars")
    counts = answers("select distinct mention_type, n from coreference_accuracy")
    assert dict(counts) == frame.groupby("mention_type")["n"].max().to_dict()
    assert list(chart.layer[0].encoding.x["sort"]) == [
        f"{type_name(kind)} (n = {dict(counts)[kind]})" for kind in frame["mention_type"].unique()
    ]


def test_the_papers_head_is_compared_with_the_same_head_only():
    accuracies = pd.DataFrame(
        [(name, method, 0.5) for name in TYPES for method in METHODS],
        columns=["mention_type", "method", "accuracy"],
    )
    other, same = antecedents(accuracies, (2, 1)), antecedents(accuracies, (5, 4))
    methods = [number.method for number in numbers("coreference_accuracy")]
    of_head = [method == "head" for method in methods]
    assert [row.published.layer for row in same] == [5 if own else None for own in of_head]
    assert sum(of_head) == len(TYPES)
    assert [row.ours for row, own in zip(other, of_head, strict=True) if own] == [None] * 4
    assert [row.ours for row, own in zip(same, of_head, strict=True) if own] == [0.5] * 4
    assert same[methods.index("neural")].ours is None


def test_heads_are_above_a_rule_where_their_interval_is(section, after):
    after(
        "update stored.coreference_accuracy set accuracy = 0.5, low = 0.4, high = 0.6",
        "update stored.coreference_accuracy set accuracy = 0.45 where method = 'sieve'",
        "update stored.coreference_accuracy set accuracy = 0.3 where method = 'nearest'",
    )
    text = sentences(section("heads"))
    assert "6 have a 95% interval above “nearest mention” (30%)" in text
    assert "0 have a 95% interval above “sieve of rules” (45%)" in text


def test_the_best_head_is_chosen_unless_another_is(section, answers):
    ((best,),) = answers(
        "select layer || '-' || head from coreference_accuracy where method = 'head' "
        "and mention_type = 'all' order by accuracy desc, layer, head limit 1"
    )
    assert section("heads").session_state["head"] == best
    assert section("heads", head="1-3").session_state["head"] == "1-3"


def test_a_file_without_mentions_is_told_with_its_remedy(section, plain_folder):
    session = section("heads", plain_folder)
    assert "no mentions are marked" in session.info[0].value
    assert "--corpus demo-treebank" in session.code[0].value


def test_rules_stay_as_they_are_by_norm(section, exported):
    frames = []
    for weighing in ("weight", "norm"):
        exported.clear()
        section("rules", co_weighing=weighing, head="1-1")
        frame, _ = figure_of(exported, "co_rules_bars")
        frames.append(frame[frame["method"] != "head"].reset_index(drop=True))
    assert frames[0].equals(frames[1])


def test_a_text_is_read_by_norm(section, answers):
    session = section("documents", co_weighing="norm", head="2-1")
    ((right, n),) = answers(
        "select sum(len(list_filter(correct, lambda each: each))), sum(len(mentions)) "
        "from coreference_prediction_weighing "
        "where weighing = 'norm' and merging = 'mean' and layer = 2 and head = 1"
    )
    assert f"{right} of {n}" in sentences(session)
