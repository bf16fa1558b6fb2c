"""The page on one head: its numbers and texts, and addresses of older versions."""

from html import unescape

import pytest

from pages.words.numbers import percent
from tests.pages.conftest import bodies, charts, frames, in_address, sentences
from tests.pages.kit.figures import click

HEAD = "layer = 2 and head = 1"


def test_a_number_stands_beside_the_median_head(opened, store_folder, answers):
    ((rate, median),) = answers(
        "with heads as (select layer, head, avg((attention > 0.3)::int) as rate "
        "from sequence_sink where place = 'first' group by all) "
        f"select max(rate) filter ({HEAD}), median(rate) from heads"
    )
    shown = bodies(opened("head", store_folder, head="2-1"))
    assert f'<div class="facts-value">{percent(rate)}</div>' in shown
    assert f"Median head {percent(median)}; rank" in shown


def test_texts_are_those_in_which_the_habit_is_strongest(opened, store_folder, answers):
    chosen = {"he_by": "habit", "he_habit": "comma_period", "he_texts": "2"}
    session = opened("head", store_folder, he_view="tokens", head="2-1", **chosen)
    best = answers(
        f"select seq, comma_period from sequence_head_pattern where {HEAD} "
        "and comma_period is not null order by comma_period desc, seq limit 2"
    )
    for place, (seq, share) in enumerate(best, start=1):
        [line] = [line for line in sentences(session).splitlines() if f"**{place}.**" in line]
        assert f"Text {seq}," in line
        assert percent(share) in line


@pytest.fixture
def tokens_of(opened, store_folder):
    """Open the section on tokens with some choices."""
    return lambda **choices: opened("head", store_folder, he_view="tokens", **choices)


def test_a_click_on_a_row_reads_its_token_until_another_is_chosen(tokens_of):
    session = tokens_of(he_least="1")
    tokens = frames(session)[1]["token"].tolist()
    assert session.selectbox(key="he_token").value != tokens[2]
    click(session, "he_ranked_weighted_norm", "rows", 2)
    assert session.selectbox(key="he_token").value == tokens[2]
    assert in_address(session, "he_token") == [tokens[2]]
    session.selectbox(key="he_token").set_value("cat").run()
    session.run()
    assert session.selectbox(key="he_token").value == "cat", "an older row undid a newer choice"


def test_each_list_tells_the_place_in_the_other(tokens_of):
    by_weight, by_norm, *_ = frames(tokens_of(he_least="1"))
    places = dict(zip(by_norm["token"], by_norm["place"], strict=True))
    seen = dict(zip(by_weight["token"], by_weight["weighted_norm_place"], strict=True))
    assert seen == places


def test_a_number_that_no_token_reaches_is_told_and_shows_no_empty_list(tokens_of):
    session = tokens_of(he_least="10000")
    assert not frames(session)
    assert "choose a smaller number" in session.info[0].value


def test_the_sequence_that_is_read_is_the_one_where_the_token_gets_most(tokens_of, answers):
    session = tokens_of(head="1-1", he_least="1", he_token="dog")
    ((seq, value),) = answers(
        """
        select seq, attention_received / n_tokens as value
        from head_token join token using (seq, pos) join sequence using (seq)
        where layer = 1 and head = 1 and token = 'dog' order by value desc, seq limit 1
        """
    )
    first = next(line for line in sentences(session).splitlines() if line.startswith("**1.**"))
    assert f"Text {seq}," in first
    assert f"{value:.2%}" in first


def test_every_token_is_shaded_once_by_weight_and_once_by_norm(tokens_of, answers):
    session = tokens_of(head="1-1", he_least="1", he_texts="1")
    body = bodies(session)
    assert body.count('class="an-text"') == 2
    titles = [unescape(part.split('"')[0]) for part in body.split('title="')[1:]]
    half = len(titles) // 2
    assert titles[:half] == titles[half:]
    norms = answers("select value_norm from head_token where layer = 1 and head = 1")
    known = {f"‖f(x)‖ {norm:.3f}" for (norm,) in norms}
    assert all(any(name in title for name in known) for title in titles)


@pytest.mark.parametrize("order", ["most", "least"])
def test_texts_come_with_the_share_and_a_way_to_look_into_them(order, tokens_of, answers):
    session = tokens_of(he_by="place", he_place="cls", he_order=order, he_texts="1", head="2-1")
    sign = "desc" if order == "most" else "asc"
    [(seq, share)] = answers(
        "select seq, attention from sequence_sink where place = 'cls' and layer = 2 and head = 1 "
        f"order by attention {sign}, seq limit 1"
    )
    assert f"**1.** Text {seq}, " in sentences(session)
    assert f"{share:.0%} of the attention" in sentences(session)
    [(n_kept, n_tokens)] = answers(
        "select (select n from exemplar_attention e where e.seq = s.seq and layer = 2 and "
        f"head = 1), n_tokens from sequence s where seq = {seq}"
    )
    has_all = n_kept == n_tokens
    assert len(charts(session)) == has_all, "lines between the tokens"
    assert ("an-text" in bodies(session)) != has_all
