"""Weights or norms on the page on coreference, and what norms gain or lose."""

import pytest

from tests.pages.conftest import sentences
from tests.pages.kit.figures import figure_of


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


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.3, "more antecedents"), (-0.3, -0.1, "fewer antecedents"), (-0.1, 0.3, "told apart")],
)
def test_the_verdict_follows_from_the_intervals_of_both_halves(low, high, verdict, section, after):
    after(
        "update stored.coreference_difference set accuracy_weight = 0.5, accuracy_norm = 0.6, "
        f"difference = 0.1, low = {low}, high = {high}"
    )
    text = sentences(section("weighing"))
    assert verdict in text
    assert "50.0% → 60.0% (+10.0 points" in text
