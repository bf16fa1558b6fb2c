"""Lines between the tokens of a text: what is drawn, and what is said of the rest."""

import numpy as np
import pytest

from pages.charts.chart_theme import with_data
from pages.drawn.attention_lines import TextAttention, attention_lines


def attention(n: int, around: int | None = None, most: int = 4) -> TextAttention:
    """A text between two special tokens: half of each token's attention goes to the last."""
    shares = np.full((n, n), 0.5 / (n - 1))
    shares[:, -1] = 0.5
    special = [pos in (0, n - 1) for pos in range(n)]
    names = [f"t{pos}" for pos in range(n)]
    return TextAttention(shares, names, special, around=around, most=most)


@pytest.mark.parametrize(
    ("n", "around", "drawn"),
    [
        (3, None, [0, 1, 2]),
        (9, None, [0, 1, 2, 3, 8]),
        (9, 5, [0, 3, 4, 5, 6, 8]),
        (9, 8, [0, 5, 6, 7, 8]),
    ],
)
def test_a_window_of_a_long_text_is_drawn_with_all_special_tokens(n, around, drawn):
    assert attention(n, around).drawn == drawn


def test_what_goes_to_tokens_that_are_not_drawn_is_told():
    assert attention(3).left_out == ""
    left_out = 0.5 * 4 / 8  # to 4 of the 8 tokens that share the other half
    assert f"5 of 9 tokens are drawn; {left_out:.0%} of" in attention(9).left_out


def test_a_chosen_token_is_selected_as_a_query_from_the_start():
    text = attention(3)
    for chosen, expected in ((None, []), (1, [{"name": "query 1"}])):
        (selection,) = attention_lines(text, text.lines, chosen=chosen).to_dict()["params"]
        assert selection["name"] == "clicked"
        assert selection.get("value", []) == expected


def test_a_click_leaves_the_lines_of_its_side():
    text = attention(3)
    chart = with_data(attention_lines(text, text.lines))
    rules = [part for part in chart["layer"] if part["mark"]["type"] == "rule"]
    filters = [part["transform"] for part in rules]
    assert filters == [[{"filter": {"param": "clicked", "empty": all}}] for all in (True, False)]
    of_queries, of_keys = (chart["datasets"][part["data"]["name"]] for part in rules)
    names = [(query["name"], key["name"]) for query, key in zip(of_queries, of_keys, strict=True)]
    assert names == [(f"query {row}", f"key {column}") for row in range(3) for column in range(3)]
