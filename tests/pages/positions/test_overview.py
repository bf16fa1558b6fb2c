"""Findings on positions in the overview agree with the file."""

import pytest

from pages.ui.words.numbers import percent
from tests.pages.conftest import sentences

PEAK = "frequency between 63.9 and 64.1"


def numbers(session) -> list[str]:
    return [heading.value for heading in session.subheader]


def waves(first: int, last: int) -> tuple[str, ...]:
    """Statements that set the ratio to the spectrum without positions in the end layers."""
    as_it_is = "update stored.state_spectrum set max = {} * n_sequences where control = 'compared'"
    return (
        "update stored.state_spectrum set max = n_sequences",
        as_it_is.format(first) + " and layer = 1",
        as_it_is.format(last) + " and layer = 2",
    )


@pytest.fixture
def of_level(findings_of, changed):
    """Findings of a file whose embeddings have no peak, after further statements."""
    level = "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 100"
    return lambda *statements: findings_of("positions", changed(level, *statements))


def test_what_is_clear_is_told(of_level, answers):
    [(n, share, chance)] = answers(
        "select n_heads, agreement, chance from offset_agreement "
        "where counting = 'sum' and min_dependence = 0 and layer is null"
    )
    session = of_level(
        "update stored.offset_agreement set agreement_low = 0.25, agreement_high = 0.75",
        "delete from stored.offset_agreement where min_dependence > 0.01",
        "update stored.head_offset set score_offset = 1, attention_offset = 1",
        f"update stored.embedding_spectrum set mean = 50 where control = 'kept' and {PEAK}",
        *waves(8, 3),
    )
    assert {percent(share), "f = 64", "× 8.0 → × 3.0"} <= set(numbers(session))
    text = sentences(session)
    assert f"Of all {n} heads, {percent(share)}" in text
    assert f"(95% interval over heads: 25% to 75%); {percent(chance)} would" in text
    assert "depends on relative position" not in text, "no head does"
    assert "do so at offset 0" not in text, "no head does"


def test_agreement_where_nothing_is_shifted_and_waves_that_do_not_fade_are_told_apart(of_level):
    session = of_level(
        "update stored.head_offset set score_offset = 1, attention_offset = 1, dependence = 0.05",
        "update stored.head_offset set score_offset = 0, attention_offset = 0 where layer = 2",
        "update stored.head_offset set dependence = 0.3 where head = 1",
        "update stored.head_offset set dependence = null where layer = 2 and head = 3",
        "update stored.head_offset set attention_offset = 2 where layer = 1 and head = 3",
        "update stored.offset_agreement set agreement = 0.5",
        "delete from stored.offset_agreement where min_dependence = 0.1",
        "insert into stored.offset_agreement select * replace (0.1 as min_dependence, 2 as n_heads)"
        " from stored.offset_agreement where min_dependence = 0",
        *waves(2, 2),
    )
    text = sentences(session)
    assert "Of the 4 that agree, 2 do so at offset 0, the token itself" in text
    assert "(η² ≥ 0.1), 50% agree, 1 of them at offset 0; by chance" in text
    assert "× 2.0 → × 2.0" in numbers(session)


def test_what_is_not_known_is_no_finding(of_level):
    session = of_level("delete from stored.offset_agreement", "delete from stored.state_spectrum")
    assert not session.exception
    assert not numbers(session)
    assert "queries and keys correlate" not in sentences(session)
