"""A file without variation, without a type or without a statistic shows nothing empty."""

import pytest

from pages.ui.words.numbers import scientific
from tests.pages.conftest import charts, frames, sentences
from tests.pages.layer_mixing.conftest import SECTIONS


def test_scopes_that_were_never_compared_are_told(changed, section):
    folder = changed("delete from stored.scope_similarity where scope_a <> scope_b")
    session = section("similarity", folder)
    assert "nothing to compare" in sentences(session)
    assert "nan" not in sentences(session).lower()


def test_two_scopes_that_no_sequence_compares_are_told(changed, section):
    folder = changed("delete from stored.sequence_scope_similarity where scope_b <> 'attn'")
    assert section("similarity", folder).info


@pytest.mark.parametrize("view", SECTIONS)
def test_intervals_that_are_not_known_are_not_told(view, changed, section):
    tables = ("scope_similarity", "mixing_ratio", "relation_share", "rollout", "vector_rollout")
    tables += ("ratio_frequency_correlation",)
    unknown = [f"update stored.{each} set low = null, high = null" for each in tables]
    unknown.append("update stored.vector_rollout set difference_low = null, difference_high = null")
    folder = changed(*unknown)
    session = section(view, folder)
    assert charts(session)
    assert "nan" not in sentences(session).lower().split()


def test_a_corpus_of_one_type_has_its_mixing_ratios(changed, section):
    folder = changed("delete from stored.mixing_ratio where token_type <> 'all'")
    session = section("ratio", folder)
    assert len(charts(session)) == 2
    assert frames(session)


def test_frequencies_that_never_vary_are_told_and_draw_nothing(changed, section):
    nothing = "spearman = null, low = null, high = null"
    session = section(
        "frequency", changed(f"update stored.ratio_frequency_correlation set {nothing}")
    )
    assert not charts(session)
    assert session.info


def test_a_module_that_changes_all_pairs_alike_is_no_finding(changed, section):
    folder = changed("update stored.relation_share set mean = 0.2, low = 0.1, high = 0.3")
    assert "favours no kind" in sentences(section("modules", folder))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.5, 2.5, "clear of 1 and above it in 2 of 2 layers, below it in 0"),
        (0.5, 2.5, "favours no kind"),
        ("null", "null", "not known whether this is clear of 1"),
    ],
)
def test_a_finding_says_whether_it_is_clear_of_the_mixing_before(
    low, high, expected, changed, section
):
    adjacent = "where relation = 'adjacent' and quantity = 'change'"
    folder = changed(
        "update stored.relation_share set mean = 0.1",
        f"update stored.relation_share set mean = 0.2, ratio = 2, ratio_low = {low}, "
        f"ratio_high = {high} {adjacent}",
    )
    assert expected in sentences(section("modules", folder))


def test_a_module_that_changes_nothing_draws_nothing(changed, section):
    folder = changed("delete from stored.relation_share where quantity <> 'pairs'")
    session = section("modules", folder)
    assert session.info
    assert not charts(session)


def test_rollouts_without_special_tokens_say_nothing_of_them(changed, section):
    folder = changed("delete from stored.rollout where token_type in ('cls', 'sep')")
    assert "[SEP]" not in sentences(section("rollout", folder)).split("By ")[-1]


def test_an_error_above_the_limit_is_no_success(changed, section):
    folder = changed("update stored.layer_completeness set relative_error = 0.5")
    session = section("completeness", folder)
    assert not session.success
    assert scientific(0.5) in session.warning[0].value
