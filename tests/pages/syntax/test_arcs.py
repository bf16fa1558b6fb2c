"""Arcs of a sentence begin and end where they should, on the side where they belong."""

import pandas as pd
import pytest

from pages.syntax.arcs import HEIGHT, drawing

FORMS = ["The", "cat", "sat", "down"]
GOVERNORS = [1, 2, None, 2]
PREDICTED = [1, 0, -1, 3]


def words(forms=FORMS, first: int = 0, **changes) -> pd.DataFrame:
    """A sentence whose second word alone is of the relation; the head is right on the first."""
    n = len(forms)
    frame = pd.DataFrame(
        {
            "word": range(first, first + n),
            "form": forms,
            "relation": ["det", "nsubj", "root", "advmod"][:n],
            "governor": [None if place is None else place + first for place in GOVERNORS[:n]],
            "predicted": [place + first if place >= 0 else place for place in PREDICTED[:n]],
            "of_relation": [False, True, False, False][:n],
            "right": [True, False, False, False][:n],
        }
    )
    return frame.assign(**changes)


def arcs(drawn) -> list[tuple[str, int, int]]:
    """Kind, governor and dependent of every arc, from the words nearest to its ends."""
    centres = drawn.words["along"].to_numpy()
    listed = []
    for _, points in drawn.lines.sort_values("step").groupby("arc"):
        start, end = (abs(centres - points["along"].iloc[place]).argmin() for place in (0, -1))
        listed.append((points["kind"].iloc[0], int(start), int(end)))
    return sorted(listed)


@pytest.mark.parametrize("widest", [50, 10_000], ids=["upright", "across"])
@pytest.mark.parametrize("first", [0, 7])
def test_every_dependency_has_an_arc_and_of_the_head_those_of_the_relation(first, widest):
    drawn = drawing(words(first=first), widest=widest, everything=False)
    assert drawn.upright is (widest == 50), "too long a sentence stands upright"
    assert arcs(drawn) == [("other", 1, 0), ("other", 2, 3), ("tree", 2, 1), ("wrong", 0, 1)]


def test_all_words_have_the_heads_arcs_where_they_are_asked_for():
    changed = words(predicted=[1, 0, -1, 0])
    listed = arcs(drawing(changed, widest=10_000, everything=True))
    assert [arc for arc in listed if arc[0] in ("right", "wrong")] == [
        ("right", 1, 0),
        ("wrong", 0, 1),
        ("wrong", 0, 3),
    ]


def test_a_word_without_a_prediction_has_no_arc():
    nothing = words(predicted=-1)
    drawn = drawing(nothing, widest=10_000, everything=True)
    assert {kind for kind, *_ in arcs(drawn)} == {"tree", "other"}
    assert drawn.low < drawn.high


@pytest.mark.parametrize("widest", [0, 10_000])
def test_the_tree_is_on_one_side_and_the_head_on_the_other(widest):
    drawn = drawing(words(), widest=widest, everything=True)
    tree = drawn.lines["kind"].isin(["tree", "other"])
    assert (drawn.lines.loc[tree, "away"] > 0).all()
    assert (drawn.lines.loc[~tree, "away"] < 0).all()
    assert drawn.lines["away"].between(-drawn.low, drawn.high).all()
    assert drawn.lines["along"].between(0, drawn.length).all()


def test_longer_arcs_are_higher_and_the_longest_is_the_highest():
    drawn = drawing(words(governor=[3, 2, None, 2]), widest=10_000, everything=False)
    tops = drawn.lines.groupby("arc").agg(kind=("kind", "first"), away=("away", "max"))
    heights = (tops["away"] - drawn.ends["away"].max()).sort_values().tolist()
    assert heights[-1] == pytest.approx(HEIGHT)
    assert heights[0] < heights[-1]


def test_arrows_point_at_the_dependents():
    drawn = drawing(words(), widest=10_000, everything=False)
    centres = drawn.words["along"].tolist()
    dependents = [centres[0], centres[1], centres[1], centres[3]]
    assert sorted(drawn.ends["along"]) == pytest.approx(dependents)


def test_words_do_not_overlap_however_wide_they_are():
    forms = ["A", "internationalisation", "構文解析", "."]
    drawn = drawing(words(forms), widest=10_000, everything=False)
    low, high = drawn.words["along_low"], drawn.words["along_high"]
    assert (low.iloc[1:].to_numpy() > high.iloc[:-1].to_numpy()).all()
    assert (high - low).iloc[2] > (high - low).iloc[0]


def test_letters_of_chinese_and_japanese_count_twice():
    sentences = (words([form, "x", "x"]) for form in ("ideograph", "漢字漢字漢字漢字漢"))
    narrow, wide = (drawing(sentence, widest=10_000, everything=False) for sentence in sentences)
    assert wide.length > narrow.length


def test_a_sentence_of_one_word_is_drawn_without_arcs():
    alone = words(["Yes"]).assign(governor=None, predicted=-1)
    drawn = drawing(alone, widest=10_000, everything=True)
    assert drawn.lines.empty
    assert drawn.words["form"].tolist() == ["Yes"]
