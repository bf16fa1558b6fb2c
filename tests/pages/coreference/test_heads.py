"""All heads by type of mention, what all sections export, and a file that has no mentions."""

import pytest

from tests.pages.conftest import frames, in_address, sentences
from tests.pages.kit.figures import click, figure_of


@pytest.mark.parametrize("mention_type", ["all", "pronoun"])
def test_the_map_and_the_table_hold_every_head(mention_type, section, exported, answers):
    session = section("heads", co_type=mention_type)
    expected = answers(
        "select layer, head, n, accuracy from coreference_accuracy where method = 'head' "
        f"and mention_type = '{mention_type}' order by layer, head"
    )
    frame, chart = figure_of(exported, f"co_heads_map_{mention_type}_weight_mean")
    columns = ["layer", "head", "n", "accuracy"]
    assert [tuple(row) for row in frame[columns].to_numpy().tolist()] == expected
    assert chart.layer[0].mark.type == "rect"
    (listed,) = (table for table in frames(session) if "more_than_sieve" in table)
    assert listed["accuracy"].is_monotonic_decreasing
    assert len(listed) == len(expected)
    ((sieve,),) = answers(
        "select accuracy from coreference_accuracy where method = 'sieve' "
        f"and mention_type = '{mention_type}'"
    )
    assert (listed["accuracy"] - listed["more_than_sieve"]).to_numpy() == pytest.approx(sieve)
    assert frame["low"].isna().all()
    assert "0 have a 95% interval above “sieve of rules”" in sentences(session), "none has one"


def test_heads_are_above_a_rule_where_their_interval_is(section, after):
    after(
        "update stored.coreference_accuracy set accuracy = 0.5, low = 0.4, high = 0.6",
        "update stored.coreference_accuracy set accuracy = 0.45 where method = 'sieve'",
        "update stored.coreference_accuracy set accuracy = 0.3 where method = 'nearest'",
    )
    text = sentences(section("heads"))
    assert "6 have a 95% interval above “nearest mention” (30%)" in text
    assert "0 have a 95% interval above “sieve of rules” (45%)" in text


def test_types_that_no_mention_has_are_not_offered(section, after):
    after("delete from stored.coreference_accuracy where mention_type = 'proper'")
    session = section("heads", co_type="proper")
    assert session.session_state["co_type"] == "all"
    assert in_address(session, "co_type") == []


def test_the_best_head_is_chosen_unless_another_is(section, answers):
    ((best,),) = answers(
        "select layer || '-' || head from coreference_accuracy where method = 'head' "
        "and mention_type = 'all' order by accuracy desc, layer, head limit 1"
    )
    assert section("heads").session_state["head"] == best
    assert section("heads", head="1-3").session_state["head"] == "1-3"


def test_a_click_chooses_the_head_and_the_button_shows_its_texts(section):
    session = section("heads", head="1-1")
    click(session, "co_map", "cell", {"layer": 2, "head": 3})
    assert session.session_state["head"] == "2-3"
    (button,) = (candidate for candidate in session.button if "layer 2, head 3" in candidate.label)
    button.click().run()
    assert not session.exception
    assert in_address(session, "co_view") == ["documents"]
    assert "**Layer 2, head 3** is right about" in sentences(session)


def test_a_file_without_mentions_is_told_with_its_remedy(section, plain_folder):
    session = section("heads", plain_folder)
    assert "no mentions are marked" in session.info[0].value
    assert "--corpus demo-treebank" in session.code[0].value
