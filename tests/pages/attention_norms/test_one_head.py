"""Lists of tokens by attention, and sequences shaded by weight and by norm, for one head."""

from html import unescape

from tests.pages.conftest import bodies, frames, sentences


def test_each_list_tells_the_place_in_the_other(section):
    by_weight, by_norm, *_ = frames(section("head", an_least="1"))
    places = dict(zip(by_norm["token"], by_norm["place"], strict=True))
    seen = dict(zip(by_weight["token"], by_weight["weighted_norm_place"], strict=True))
    assert seen == places


def test_a_number_that_no_token_reaches_is_told_and_shows_no_empty_list(section):
    session = section("head", an_least="10000")
    assert len(frames(session)) == 1
    assert "10000" in session.info[0].value


def test_the_sequence_that_is_read_is_the_one_where_the_token_gets_most(section, answers):
    session = section("head", head="1-1", an_least="1", an_token="dog")
    ((seq, value),) = answers(
        """
        select seq, attention_received / n_tokens as value
        from head_token join token using (seq, pos) join sequence using (seq)
        where layer = 1 and head = 1 and token = 'dog' order by value desc, seq limit 1
        """
    )
    first = next(line for line in sentences(session).splitlines() if line.startswith("**1.**"))
    assert f"Sequence {seq}," in first
    assert f"{value:.2%}" in first


def test_every_token_is_shaded_once_by_weight_and_once_by_norm(section, answers):
    session = section("head", head="1-1", an_least="1", an_passages="1")
    body = bodies(session)
    assert body.count('class="an-text"') == 2
    titles = [unescape(part.split('"')[0]) for part in body.split('title="')[1:]]
    half = len(titles) // 2
    assert titles[:half] == titles[half:]
    norms = answers("select value_norm from head_token where layer = 1 and head = 1")
    known = {f"‖f(x)‖ {norm:.3f}" for (norm,) in norms}
    assert all(any(name in title for name in known) for title in titles)
