"""The picture of the grid shows the pairs that the grid on the page shows."""

import re

import pandas as pd

from pages.token_pairs.grid import picture
from pages.ui.export import files as export

HOSTILE = "<b>$x$"
PAIRS = pd.DataFrame(
    {
        "layer": [1, 1, 2],
        "place": [1, 2, 1],
        "source": ["united", HOSTILE, "a"],
        "target": ["states", "[SEP]", "a"],
        "mean_delta": [0.04, 0.01, 0.02],
        "low": [0.03, -0.01, None],
        "high": [0.05, 0.03, None],
        "n": [3, 1200, 5],
        "relation": ["adjacent", "special", "same_word"],
    }
)


def test_every_pair_is_drawn_and_faint_where_it_is_not_clear():
    lists = {"More": PAIRS, "Less": PAIRS.assign(mean_delta=-PAIRS["mean_delta"])}
    drawn = export.svg(picture(lists, layers=range(1, 3), top=0.04), "A finding.")
    written = "\n".join(re.findall(r">([^<]+)</", drawn))
    for words in ("united →", "states", "+4.00 · n 3", "−4.00 · n 3", "+1.00 · n 1,200", "More"):
        assert words in written
    assert "&lt;b&gt;$x$ →" in written
    grid = picture({"More": PAIRS}, layers=range(1, 3), top=0.04)
    assert grid.data["visible"].tolist() == [1.0, 0.4, 0.4]
