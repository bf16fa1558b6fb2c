"""A reader asks, sees the answer drawn and listed, and passes it on as a link."""

import pandas as pd
import pytest

from pages.export import files as export
from pages.query.ask import LONGEST_IN_LINK, fits_into_a_link
from pages.query.chart import Roles, can_be_drawn, chart, usual
from pages.query.examples import EXAMPLES
from pages.words.say import plain
from tests.pages.conftest import assert_sound, captions, charts, frames, in_address, sentences

LAYERS = "select layer, head, previous from head_pattern where layer = 1 order by head"


pytestmark = pytest.mark.slow
OF_PAGE = "query"


def asked(section, sql: str, **address: str):
    return section("ask", qu_sql=sql, **address)


def test_the_page_opens_with_a_question_that_is_answered(section):
    session = section("ask")
    assert session.text_area[0].value == EXAMPLES["received"].sql
    headline = "How much attention does each token type receive, layer by layer?"
    assert f"**{headline}**" in sentences(session)
    assert list(frames(session)[0]) == ["layer", "token_type", "mean", "low", "high"]
    assert "SQL: select layer, token\\_type, mean, low, high from" in captions(session)
    assert EXAMPLES["received"].sql in {code.value for code in session.code}
    assert "qu_sql" not in session.query_params


def test_an_example_takes_the_place_of_the_question_and_of_its_headline(section):
    session = asked(section, LAYERS, qu_shows="Head 3 & <b>others</b> of layer_1")
    assert plain("Head 3 & <b>others</b> of layer_1") in sentences(session)
    session.menu_button(key="qu_example").click("pairs").run()
    assert_sound(session)
    assert in_address(session, "qu_sql") == [EXAMPLES["pairs"].sql]
    assert in_address(session, "qu_shows") == []
    assert list(frames(session)[0]) == ["pair", "mean_delta", "n"]
    assert charts(session)[0]["layer"][0]["mark"]["type"] == "bar"


def test_what_is_drawn_is_the_readers_choice_and_usual_again_for_another_question(section):
    session = asked(section, LAYERS, qu_kind="points", qu_x="previous", qu_y="head", qu_colour="")
    drawn = charts(session)[0]["layer"][0]
    assert drawn["mark"]["type"] == "circle"
    assert [drawn["encoding"][axis]["title"] for axis in "xy"] == ["previous", "head"]
    assert in_address(session, "qu_x") == ["previous"]
    sql = "select layer, avg(entropy) as entropy from head_pattern where layer <> 9 group by layer"
    session.text_area[0].set_value(sql).run()
    assert in_address(session, "qu_sql") == [sql]
    assert_sound(session)
    assert not session.toast
    drawn = charts(session)[0]["layer"][0]
    assert [drawn["encoding"][axis]["title"] for axis in "xy"] == ["layer", "entropy"]
    assert in_address(session, "qu_x") == []
    assert in_address(session, "qu_kind") == ["points"]


@pytest.mark.parametrize(
    ("lang", "advice"),
    [("en", "The database does not take"), ("ja", "受け付けませんでした")],
)
def test_what_the_database_says_against_a_question_is_shown_as_it_is(lang, advice, section):
    session = asked(section, "select ```<script>**x**", lang=lang)
    [error] = [box.value for box in session.error]
    assert advice in error
    fence = "``````"  # longer than any in the question
    message = error.partition(f"{fence}text\n")[2]
    assert message.startswith("Parser Error: unterminated quoted identifier")
    assert "select ```<script>**x**" in message
    assert message.endswith(f"\n{fence}")
    assert not charts(session)
    assert session.expander, "the views are not explained where they are needed most"


def test_rows_that_were_cut_are_said_to_be(section, exported):
    session = asked(section, "select range as n, n * n as square from range(100001)")
    assert sum("Only the first 100,000 rows" in caption.value for caption in session.caption) >= 2
    assert len(frames(session)[0]) == 100_000
    assert any("Only the first 5,000 rows are drawn" in text.value for text in session.caption)
    assert {len(shown.frame) for shown in exported.values()} == {5_000, 100_000}


def test_a_question_too_long_for_a_link_is_asked_and_said_to_be(section):
    session = section("ask")
    long = f"select 1 as n, '{'x' * LONGEST_IN_LINK}' as text"
    assert not fits_into_a_link(long)
    session.text_area[0].set_value(long).run()
    assert_sound(session)
    assert any("too long for a link" in warning.value for warning in session.warning)
    assert "qu_sql" not in session.query_params
    assert list(frames(session.run())[0]) == ["n", "text"]


BY_LAYER = {"layer": [1, 2, 3], "mean": [0.1, 0.2, 0.3]}
AROUND = {"low": [0.0, 0.1, 0.2], "high": [0.2, 0.3, 0.4]}
GRID = {"layer": [1, 1, 2, 2], "head": [1, 2, 1, 2], "entropy": [0.1, 0.2, 0.3, 0.4]}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (BY_LAYER, Roles("lines", "layer", "mean")),
        (GRID, Roles("lines", "layer", "entropy", "head")),
        (BY_LAYER | AROUND, Roles("lines", "layer", "mean")),
        ({"pair": ["a", "b"], "n": [5, 6], "delta": [0.1, 0.2]}, Roles("bars", "pair", "delta")),
        ({"token": ["a", "a"], "delta": [0.1, 0.2]}, Roles("points", "token", "delta")),
        ({"a": [0.5, 1.5], "b": [2.5, 3.5]}, Roles("points", "b", "a")),
        ({"n": [5, 6], "square": [25, 36]}, Roles("points", "square", "n")),
        ({"layer": [1, 2], "head": [3, 4]}, Roles("lines", "head", "layer")),
        ({"low": [0.1, 0.2], "high": [0.3, 0.4]}, Roles("points", "high", "low")),
        (
            {"layer": [1, 1, 2, 2], "scope": ["attn", "attn_w"] * 2, "ratio": [0.1, 0.2, 0.3, 0.4]},
            Roles("lines", "layer", "ratio", "scope"),
        ),
    ],
    ids=str,
)  # fmt: skip
def test_columns_are_drawn_as_they_usually_are(columns, expected):
    frame = pd.DataFrame(columns)
    assert can_be_drawn(frame)
    assert usual(frame) == expected
    for kind in ("bars", "lines", "points"):
        drawn = chart(frame, Roles(kind, expected.x, expected.y, expected.colour))
        assert "mark-" in export.svg(drawn)


@pytest.mark.parametrize(
    ("ends", "y", "has_interval"),
    [
        (AROUND, "mean", True),
        ({"low": [0.0, None, 0.2], "high": [0.2, None, 0.4]}, "mean", True),
        ({"mean_low": [0.0, 0.1, 0.2], "mean_high": [0.2, 0.3, 0.4]}, "mean", True),
        (AROUND, "layer", False),
        ({"low": [0.0, 0.3, 0.2], "high": [0.2, 0.4, 0.4]}, "mean", False),
        ({"low": ["a", "b", "c"], "high": ["a", "b", "c"]}, "mean", False),
        ({"low": [None] * 3, "high": [None] * 3}, "mean", False),
    ],
)
def test_an_interval_is_drawn_where_it_lies_around_what_is_drawn(ends, y, has_interval):
    frame = pd.DataFrame(BY_LAYER | ends)
    assert ("low" in chart(frame, Roles("bars", "layer", y)).data) == has_interval
