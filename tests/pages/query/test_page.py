"""A reader asks, sees the answer drawn and listed, and passes it on as a link."""

import pytest

from pages.query.ask import LONGEST_IN_LINK, fits_into_a_link
from pages.query.examples import EXAMPLES
from pages.services import sql_asking as asking
from pages.services.sql_asking import Fault
from pages.words.say import plain
from tests.pages.conftest import assert_sound, captions, charts, frames, in_address, sentences

LAYERS = "select layer, head, previous from head_pattern where layer = 1 order by head"


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


def test_the_views_of_the_file_are_explained_beside_the_question(section):
    session = asked(section, LAYERS)
    [views] = [box for box in session.selectbox if box.key == "qu_of"]
    assert views.value == "head_pattern"
    assert "token_type_interval" in views.options
    assert not {"dependency_accuracy", "mention"} & set(views.options)
    assert any("|`previous`|" in text.value for text in session.markdown)
    japanese = asked(section, LAYERS, lang="ja")
    assert any("|`previous`|" in text.value and "トークン" in text.value
               for text in japanese.markdown)  # fmt: skip


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
    session.text_area[0].set_value("select layer, avg(entropy) as entropy from head_pattern"
                                   " group by layer order by layer").run()  # fmt: skip
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


@pytest.mark.parametrize(("lang", "words"), [("en", "has no rows"), ("ja", "結果は0行です")])
def test_an_empty_answer_says_so(lang, words, section):
    session = asked(section, "from run where false", lang=lang)
    assert any(words in note.value for note in session.info)
    assert not session.error
    assert not frames(session)


def test_rows_that_were_cut_are_said_to_be(section, exported):
    session = asked(section, "select range as n, n * n as square from range(100001)")
    assert sum("Only the first 100,000 rows" in caption.value for caption in session.caption) >= 2
    assert len(frames(session)[0]) == 100_000
    assert any("Only the first 5,000 rows are drawn" in text.value for text in session.caption)
    assert {len(frame) for frame, _ in exported.values()} == {5_000, 100_000}


def test_hostile_names_and_values_are_drawn_as_they_are(section, exported):
    sql = 'select \'zzz\' as token_type, 1.5 as "a.b[0]:Q<b>", 2 as "_index" union all ' \
          "select null, 'inf'::double, 3"  # fmt: skip
    session = asked(section, sql)
    assert list(frames(session)[0]) == ["token_type", "a.b[0]:Q<b>", "_index"]
    drawn = charts(session)[0]["layer"][0]["encoding"]
    assert (drawn["y"]["field"], drawn["y"]["title"]) == ("y", "a.b[0]:Q<b>")
    assert len(exported) == 2


def test_a_question_too_long_for_a_link_is_asked_and_said_to_be(section):
    session = section("ask")
    long = f"select 1 as n, '{'x' * LONGEST_IN_LINK}' as text"
    assert not fits_into_a_link(long)
    session.text_area[0].set_value(long).run()
    assert_sound(session)
    assert any("too long for a link" in warning.value for warning in session.warning)
    assert "qu_sql" not in session.query_params
    assert list(frames(session.run())[0]) == ["n", "text"]


def test_a_question_that_failed_is_tried_again_when_it_is_run_again(section, monkeypatch):
    session = asked(section, "select 'tried again'")
    with monkeypatch.context() as patch:
        patch.setattr(asking, "asked", lambda path, questions: [Fault("slow")])
        assert not session.run().error
        next(button for button in session.button if button.label == "Run").click().run()
        assert "longer than 10 s" in session.error[0].value
    assert session.run().error, "what failed is not tried again by itself"
    next(button for button in session.button if button.label == "Run").click().run()
    assert not session.error
