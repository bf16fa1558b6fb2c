"""Badges follow from the numbers: planted ones agree, differ, point the other way, or lack."""

import pandas as pd
import pytest

from analysis.published.numbers import Published
from pages.kit.published_table import Row
from pages.kit.run import Run, within
from pages.papers import cards, outcomes
from pages.papers.claims import _compared, _most
from pages.papers.entries import ENTRIES, Entry
from pages.papers.outcomes import outcome_of
from pages.services.chosen import open_store


def entry_of(paper: str, stem: str) -> Entry:
    return next(entry for entry in ENTRIES if (entry.paper, entry.stem) == (paper, stem))


@pytest.fixture
def judged(monkeypatch):
    """Outcome of an entry on the open file that differs so from the paper's experiment."""

    def outcome(paper: str, stem: str, apart: str | None = None) -> outcomes.Outcome:
        outcomes._outcome.clear()
        if apart is not None:
            monkeypatch.setattr(outcomes, "apart", lambda store, experiment: apart)
        with within(Run()):
            return outcome_of(open_store(), entry_of(paper, stem))

    yield outcome
    outcomes._outcome.clear()


PRINTED = """
    update stored.attention_norm_correlation set
        spearman = case token_type
            when 'cls' then -0.3449 when 'sep' then -0.6851
            when 'comma_period' then -0.25 else -0.06 end,
        n = case token_type
            when 'cls' then 17443296 when 'sep' then 34886592
            when 'comma_period' then 182838528 else 1944928224 end
    where layer is null
"""
ELSEWHERE = "update stored.attention_norm_correlation set spearman = 0.9, n = 1"


@pytest.mark.parametrize(
    ("statements", "badge", "n"),
    [
        ([PRINTED], "agrees", 8),
        ([PRINTED, f"{ELSEWHERE} where token_type = 'sep'"], "partly", 6),
        ([ELSEWHERE], "differs", 0),
    ],
)
def test_printed_values_are_compared_in_the_papers_own_experiment(
    statements, badge, n, after, judged
):
    after(*statements)
    outcome = judged("kobayashi-2020", "table_3", apart="")
    assert (outcome.badge, outcome.n_agree, outcome.n_printed) == (badge, n, 8)


BETWEEN = """
    update stored.attention_norm_correlation set between_heads_spearman = {},
        between_heads_spearman_low = {}, between_heads_spearman_high = {}
"""


@pytest.mark.parametrize(
    ("numbers", "apart", "badge", "rule"),
    [
        ((-0.5, -0.6, -0.4), "model", "same", "interval"),
        ((0.5, 0.4, 0.6), "model", "other", "interval"),
        ((-0.1, -0.3, 0.1), "model", "unclear", "interval"),
        ((-0.12, "null", "null"), "model", "unclear", "numbers"),
        ((0.5, "null", "null"), "corpus", "unclear", "numbers"),
        ((-0.5, -0.6, -0.4), "", "agrees", "interval"),
        ((0.5, 0.4, 0.6), "", "differs", "interval"),
        ((-0.1, -0.3, 0.1), "", "unclear", "interval"),
    ],
)
def test_elsewhere_and_without_printed_values_only_the_direction_counts(
    numbers, apart, badge, rule, after, judged
):
    after(BETWEEN.format(*numbers))
    outcome = judged("kobayashi-2020", "figure_4", apart=apart)
    assert outcome.badge == badge
    assert outcome.evidence.rule == rule


@pytest.mark.parametrize(
    ("paper", "stem", "table"),
    [
        ("kobayashi-2020", "table_3", "attention_norm_correlation"),
        ("clark-2019", "figure_3", "gradient_importance"),
    ],
)
def test_what_a_file_lacks_is_told_with_the_command_that_adds_it(
    paper, stem, table, without, monkeypatch, judged
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(without(table)))
    outcome = judged(paper, stem)
    assert outcome.badge == "absent"
    assert table in outcome.reason.replace("\\", "")
    assert table in outcome.command


@pytest.mark.parametrize(
    ("folder", "paper", "stem", "command"),
    [
        ("plain", "clark-2019", "table_1", "demo-treebank"),
        ("store", "sawaki-2025", "maps", "--model demo-digits"),
        ("turned", "yamamoto-2023", "figure_6", "--model demo "),
        ("images", "kobayashi-2024", "table_3", ""),
    ],
)
def test_a_file_of_another_kind_gets_the_reason_of_the_section(
    folder, paper, stem, command, request, monkeypatch, judged
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(request.getfixturevalue(f"{folder}_folder")))
    outcome = judged(paper, stem)
    assert outcome.badge == "absent"
    assert outcome.reason
    assert command in outcome.command


NO_SEP = "update stored.attention_norm_correlation set token_type = 'cls' where token_type = 'sep'"


def test_what_is_said_of_separators_is_not_judged_by_another_token(after, judged):
    after("delete from stored.attention_norm_correlation where token_type = 'cls'", NO_SEP)
    outcome = judged("kobayashi-2020", "figure_4", apart="model")
    assert outcome.item
    assert (outcome.badge, outcome.evidence) == ("nothing", None)


def test_a_head_of_another_model_does_not_stand_beside_the_one_of_the_same_number(
    store_folder, monkeypatch, judged
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    entry = entry_of("kobayashi-2020", "table_1")
    bodies = {
        apart: cards._numbers(entry, judged(entry.paper, entry.stem, apart))
        for apart in ("model", "corpus")
    }
    assert any(row.published.head for row in judged(entry.paper, entry.stem, "model").rows)
    assert ["11 more" in bodies[apart] for apart in ("model", "corpus")] == [False, True]
    assert "all heads" in bodies["model"]


@pytest.mark.parametrize(
    ("ours", "low", "high", "expected"),
    [
        (0.70, 0.60, 0.80, True),
        (0.70, 0.60, 0.786, True),  # 0.79 as printed may be 0.785
        (0.70, 0.60, 0.784, False),
        (0.95, 0.90, 0.99, False),
        (0.7949, None, None, True),
        (0.7949, float("nan"), float("nan"), True),
        (0.7951, None, None, False),
        (None, None, None, False),
    ],
)
def test_a_printed_value_is_consistent_within_the_interval_or_by_rounding(
    ours, low, high, expected
):
    number = Published("kobayashi-2024", ("figure", 3), "similarity", "mean", "0.79")
    assert Row("x", number, ours, low, high).is_consistent == expected


def rows(*values: tuple) -> pd.DataFrame:
    return pd.DataFrame(values, columns=["name", "value", "low", "high"])


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        ((0.9, 0.8, 0.95), (0.5, 0.4, 0.6), "same"),
        ((0.3, 0.2, 0.35), (0.5, 0.4, 0.6), "other"),
        ((0.5, 0.3, 0.7), (0.5, 0.4, 0.6), "unclear"),
        ((0.9, None, None), (0.5, None, None), "unclear"),
        ((0.9, 0.8, 0.95), (0.5, None, None), "unclear"),
        ((0.9, 0.9, 0.9), (0.5, 0.5, 0.5), "same"),  # no estimates
    ],
)
def test_two_numbers_are_compared_by_their_intervals_or_not_at_all(first, second, direction):
    evidence = _compared(rows(("a", *first), ("b", *second)), "b", "above")
    assert evidence.direction == direction
    assert evidence.text.startswith("a ")
    assert "b 0.50" in evidence.text


@pytest.mark.parametrize(
    ("n", "reverse", "direction"),
    [
        (4, None, "same"),
        (3, None, "unclear"),
        (2, None, "other"),
        (2, 1, "unclear"),
        (0, 0, "unclear"),
        (2, 4, "other"),
    ],
)
def test_a_statement_on_heads_or_its_reverse_must_hold_in_more_than_half_of_them(
    n, reverse, direction
):
    evidence = _most("attenuated", n, 6, reverse)
    assert evidence
    assert evidence.direction == direction
    assert _most("norms_vary", 0, 0) is None
