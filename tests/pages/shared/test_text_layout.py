"""Words of a text stand in lines, mentions have grounds and ways lead above words."""

from itertools import pairwise

import pandas as pd
import pytest

from pages.drawn.text_layout import LETTERS, curve, places, spans


def frame_of(text: str) -> pd.DataFrame:
    forms = text.split()
    return pd.DataFrame({"form": forms, "space_after": [True] * len(forms)})


def test_words_stand_in_lines_and_do_not_meet():
    words = frame_of(" ".join(["word", "another", "x"] * 40))
    of = places(words)
    assert max(place.x + place.width for place in of) <= LETTERS
    for one, other in pairwise(of):
        assert (other.line, other.x) in ((one.line, one.x + one.width + 1), (one.line + 1, 0.0))
    words.loc[18, "space_after"] = False
    assert places(words)[18].line == places(words)[19].line, "what no space parts stays together"
    full = places(pd.DataFrame({"form": ["日本語"] * 60, "space_after": [False] * 60}))
    assert max(place.x + place.width for place in full) <= LETTERS
    assert full[-1].line == 3


def test_a_mention_over_two_lines_has_a_ground_in_each_and_ways_lead_above_words():
    of = places(frame_of(" ".join(["word"] * 30)))
    first, second = spans(15, 22, of)
    assert (first.line, second.line, second.x) == (0, 1, 0.0)
    assert [span.line for span in spans(3, 5, of)] == [0]
    within, across = curve(of[10], of[2]), curve(of[25], of[2])
    assert (within[0][0], within[-1][0]) == pytest.approx((of[10].middle, of[2].middle))
    assert min(y for _, y in within) < within[0][1]
    assert (across[0][1], across[-1][1]) == pytest.approx((0.8, 0.16))
