"""Rank of a finding by its distance from the baseline."""

import math

import pytest

from pages.kit.found import Found, rows_of


def finding(evidence, baseline=None) -> Found:
    return Found("label", "0.5", "A sentence.", evidence, baseline=baseline)


@pytest.mark.parametrize(
    ("rows", "baseline", "strength"),
    [
        ([("own", 0.5, 0.4, 0.6)], 0.2, 3.0),
        ([("own", -0.5, -0.6, -0.4)], 0.0, 5.0),
        ([("own", 0.5, 0.4, 0.6), ("chance", 0.45)], "chance", 0.5),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.2, 0.15, 0.25)], "other", 2.0),
    ],
)
def test_strength_is_the_distance_from_the_baseline_in_halves_of_the_interval(
    rows, baseline, strength
):
    assert finding(rows_of(rows), baseline).strength == pytest.approx(strength)


@pytest.mark.parametrize(
    ("rows", "baseline", "side"),
    [
        ([("own", 0.5, 0.4, 0.6)], 0.2, "above"),
        ([("own", 0.5, 0.4, 0.6)], 0.9, "below"),
        ([("own", 0.5, 0.4, 0.6)], 0.4, "unclear"),
        ([("own", 0.5)], 0.2, "unsure"),
        ([("own", 0.5, 0.4, 0.6), ("chance", 0.45)], "chance", "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.35, 0.3, 0.39)], "other", "above"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.35, 0.3, 0.4)], "other", "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.7, 0.61, 0.8)], "other", "below"),
    ],
)
def test_a_side_is_taken_only_where_no_interval_holds_the_other(rows, baseline, side):
    assert finding(rows_of(rows), baseline).side == side


@pytest.mark.parametrize(
    ("rows", "baseline"),
    [([("own", 0.5)], 0.2), ([("own", 0.5, 0.5, 0.5)], 0.2), ([("own", 0.5, 0.4, 0.6)], None)],
)
def test_without_an_interval_or_a_baseline_it_is_not_known(rows, baseline):
    assert math.isnan(finding(rows_of(rows), baseline).strength)
