"""A file without variation, without a type or without a statistic shows nothing empty."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages.layer_mixing.modules import _finding
from pages.ui.view import View
from pages.ui.words.numbers import scientific
from pages.ui.words.place import words_of
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.copies import changed_copy


@pytest.fixture(scope="module")
def poor(store_folder, tmp_path_factory) -> Path:
    """A folder with a file that lacks something of every section."""
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("poor"),
        "delete from stored.scope_similarity where scope_a <> scope_b",
        "delete from stored.sequence_scope_similarity where scope_b <> 'attn'",
        "delete from stored.mixing_ratio where token_type <> 'all'",
        "update stored.ratio_frequency_correlation set spearman = null, low = null, high = null",
        "delete from stored.relation_share where quantity <> 'pairs'",
        "delete from stored.rollout where token_type in ('cls', 'sep')",
        "update stored.layer_completeness set relative_error = 0.5",
    )


def test_scopes_that_were_never_compared_are_told(poor, section):
    session = section("similarity", poor)
    assert "nothing to compare" in sentences(session)
    assert "nan" not in sentences(session).lower()
    assert session.info, "no sequence compares the two that were chosen"


def test_a_corpus_of_one_type_has_its_mixing_ratios(poor, section):
    session = section("ratio", poor)
    assert len(charts(session)) == 2
    assert frames(session)


@pytest.mark.parametrize("view", ["frequency", "modules"])
def test_what_never_varies_or_changes_is_told_and_draws_nothing(view, poor, section):
    session = section(view, poor)
    assert not charts(session)
    assert session.info


def test_rollouts_without_special_tokens_say_nothing_of_them(poor, section):
    assert "[SEP]" not in sentences(section("rollout", poor)).split("By ")[-1]


def test_an_error_above_the_limit_is_no_success(poor, section):
    session = section("completeness", poor)
    assert not session.success
    assert scientific(0.5) in session.warning[0].value


@pytest.mark.parametrize(
    ("ratio", "low", "high", "expected"),
    [
        (1.0, 0.5, 1.5, "holds 1: that is not clearly more"),
        (1.05, 1.04, 1.06, "The 95% interval is above 1"),
        (2.0, 1.5, 2.5, "above 1 in 2 of 2 layers and below it in 0"),
        (0.5, 0.4, 0.6, "The 95% interval is below 1"),
        (2.0, 0.5, 2.5, "holds 1: that is not clearly more"),
        (2.0, np.nan, np.nan, "whether this is clear of 1 is not known"),
    ],
)
def test_a_finding_says_whether_it_is_clear_of_the_mixing_before(ratio, low, high, expected):
    shares = {"change": 0.1 * ratio, "before": 0.1, "pairs": 0.1}
    rows = [(layer, name, share) for layer in (1, 2) for name, share in shares.items()]
    frame = pd.DataFrame(rows, columns=["layer", "quantity", "mean"]).assign(
        relation="adjacent", low=0.0, high=1.0
    )
    of_change = frame["quantity"] == "change"
    for name, value in (("ratio", ratio), ("ratio_low", low), ("ratio_high", high)):
        frame[name] = np.where(of_change, value, np.nan)
    with words_of("layer_mixing", "modules"):
        assert expected in _finding(View("lm", "modules"), frame, "ff", "change")
