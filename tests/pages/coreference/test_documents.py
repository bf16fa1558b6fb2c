"""Texts with their mentions and the arrows of a head or a rule."""

from itertools import pairwise

import pandas as pd
import pytest

from pages.ui.charts.text_layout import LETTERS, curve, places, spans
from tests.pages.conftest import frames, in_address, sentences
from tests.pages.kit.figures import figure_of


def arrows_of(chart) -> pd.DataFrame:
    """The ends of the arrows, one row per arrow."""
    (lines,) = (layer for layer in chart.layer if layer.mark.type == "line")
    return lines.data.groupby("arrow").tail(1)


@pytest.mark.parametrize("method", ["head", "nearest"])
def test_arrows_lead_to_what_is_picked(method, section, exported, answers):
    session = section("documents", co_method=method, head="1-2")
    where = "method = 'head' and merging = 'mean' and layer = 1 and head = 2"
    where = where if method == "head" else f"method = '{method}'"
    seq = session.session_state["co_text"]
    ((predicted, correct),) = answers(
        f"select predicted, correct from coreference_prediction where seq = {seq} and {where}"
    )
    frame, chart = figure_of(exported, "co_documents_chart_")
    assert frame["predicted"].tolist() == predicted
    arrows = arrows_of(chart)
    drawn = [verdict for verdict, word in zip(correct, predicted, strict=True) if word >= 0]
    assert (arrows["right"] == "right").tolist() == drawn
    assert f"**{sum(correct)} of the {len(correct)}** mentions of this text" in sentences(session)


def test_the_text_with_most_mentions_is_shown_unless_another_is_chosen(section, answers):
    ((seq, n),) = answers(
        "select seq, len(mentions) as n from coreference_prediction where method = 'nearest' "
        "order by n desc, seq limit 1"
    )
    session = section("documents")
    assert session.session_state["co_text"] == seq
    assert f" of the {n}** mentions" in sentences(session)
    other = section("documents", co_text=str(seq + 1))
    assert in_address(other, "co_text") == [str(seq + 1)]


@pytest.mark.parametrize(("arrows", "verdicts"), [("right", {"right"}), ("wrong", {"wrong"})])
def test_arrows_can_be_told_apart(arrows, verdicts, section, exported):
    section("documents", co_method="nearest", co_arrows=arrows)
    _, chart = figure_of(exported, "co_documents_chart_")
    assert set(arrows_of(chart)["right"]) == verdicts


def test_a_text_without_any_arrow_is_drawn_all_the_same(section, after, exported):
    after(
        "update stored.coreference_prediction set predicted = [-1 for each in predicted], "
        "correct = [false for each in correct]"
    )
    session = section("documents", co_method="head_match")
    _, chart = figure_of(exported, "co_documents_chart_")
    assert "line" not in {layer.mark.type for layer in chart.layer}
    (listed,) = (frame for frame in frames(session) if "picked_form" in frame)
    assert listed["picked_form"].isna().all()


def frame_of(text: str) -> pd.DataFrame:
    forms = text.split()
    return pd.DataFrame({"form": forms, "space_after": [True] * len(forms)})


def test_words_stand_in_lines_and_do_not_meet():
    words = frame_of(" ".join(["word", "another", "x"] * 40))
    of = places(words)
    assert of[0].line == 0
    assert max(place.x + place.width for place in of) <= LETTERS
    for one, other in pairwise(of):
        assert (other.line, other.x) in ((one.line, one.x + one.width + 1), (one.line + 1, 0.0))


def test_what_no_space_parts_stays_in_one_line():
    words = frame_of(" ".join(["word"] * 40))
    words.loc[18, "space_after"] = False
    words.loc[19, "form"] = "."
    of = places(words)
    assert of[18].line == of[19].line
    assert of[19].x == of[18].x + of[18].width


def test_a_text_without_spaces_is_parted_where_a_line_is_full():
    words = pd.DataFrame({"form": ["日本語"] * 60, "space_after": [False] * 60})
    of = places(words)
    assert of[0].width == pytest.approx(5)
    assert max(place.x + place.width for place in of) <= LETTERS
    assert of[-1].line == 3


def test_a_mention_over_two_lines_has_a_ground_in_each():
    of = places(frame_of(" ".join(["word"] * 30)))
    first, second = spans(15, 22, of)
    assert (first.line, second.line, second.x) == (0, 1, 0.0)
    assert first.x + first.width == of[18].x + of[18].width
    assert [span.line for span in spans(3, 5, of)] == [0]


def test_ways_lead_from_above_a_word_to_another():
    of = places(frame_of(" ".join(["word"] * 30)))
    within, across = curve(of[10], of[2]), curve(of[25], of[2])
    assert within[0][0] == of[10].middle
    assert within[-1][0] == pytest.approx(of[2].middle)
    assert within[0][1] == pytest.approx(within[-1][1])
    assert min(y for _, y in within) < within[0][1]
    assert across[0][1] == pytest.approx(0.8)
    assert across[-1][1] == pytest.approx(0.16)
