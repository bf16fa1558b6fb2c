"""Arcs of a sentence begin and end where they should, on the side where they belong."""

import pandas as pd
import pytest

from pages.syntax.arcs import HEIGHT, drawing

GOVERNORS, PREDICTED = [1, 2, None, 2], [1, 0, -1, 3]
RELATION = {"arcs": "relation"}


def words(forms=("The", "cat", "sat", "down"), first: int = 0, **changes) -> pd.DataFrame:
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
def test_every_dependency_has_an_arc_on_its_side_and_of_the_head_those_of_the_relation(
    first, widest
):
    drawn = drawing(words(first=first), RELATION, widest=widest)
    assert drawn.upright is (widest == 50), "too long a sentence stands upright"
    assert arcs(drawn) == [("other", 1, 0), ("other", 2, 3), ("tree", 2, 1), ("wrong", 0, 1)]
    tree = drawn.lines["kind"].isin(["tree", "other"])
    assert ((drawn.lines["away"] > 0) == tree).all()
    assert drawn.lines["away"].between(-drawn.low, drawn.high).all()
    assert drawn.lines["along"].between(0, drawn.length).all()


def test_the_longest_arc_is_the_highest_and_arrows_point_at_dependents():
    drawn = drawing(words(governor=[3, 2, None, 2]), RELATION)
    tops = drawn.lines.groupby("arc")["away"].max() - drawn.ends["away"].max()
    assert tops.max() == pytest.approx(HEIGHT)
    centres = drawn.words["along"].tolist()
    dependents = [centres[0], centres[1], centres[1], centres[3]]
    assert sorted(drawn.ends["along"]) == pytest.approx(dependents)


def test_words_do_not_overlap_however_wide_they_are():
    drawn = drawing(words(["A", "internationalisation", "構文解析", "."]), RELATION, widest=9_000)
    low, high = drawn.words["along_low"], drawn.words["along_high"]
    assert (low.iloc[1:].to_numpy() > high.iloc[:-1].to_numpy()).all()
    assert (high - low).iloc[2] > (high - low).iloc[0]
