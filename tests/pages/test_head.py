"""The page on one head: its numbers and texts, and addresses of older versions."""

from html import unescape

import duckdb
import pytest

from pages.head.texts import TOKENS
from pages.words.numbers import percent
from tests.pages.conftest import bodies, sentences

pytestmark = pytest.mark.slow
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


def test_an_entry_of_the_vocabulary_is_first_where_it_is_nothing_else(gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        elsewhere = dict(
            store.sql("""
                select token, bool_and(token_type = 'first') from token group by token
                having bool_or(token_type = 'first')""").fetchall()
        )
        assert set(elsewhere.values()) == {True, False}
        frame = store.execute(TOKENS, {"layer": 1, "head": 1, "least": 1}).df()
        types = dict(zip(frame["token"], frame["token_type"], strict=True))
        assert {token: types[token] == "first" for token in elsewhere} == elsewhere
