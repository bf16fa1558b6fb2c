"""Numbers as sentences write them."""

import math

import pytest

from pages.words.numbers import percent, scientific, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.364, "36%"),
        (0.004, "0.4%"),
        (0.999, "99.9%"),
        (0.0, "0.0%"),
        (-0.0001, "0.0%"),
        (-0.2, "−20.0%"),
    ],
)
def test_percentages_are_whole_where_that_says_enough(value, text):
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.57e-7, "1.6·10⁻⁷"), (1e-3, "1.0·10⁻³"), (9.96e-4, "1.0·10⁻³"), (0, "0")]
)
def test_small_numbers_are_told_as_powers_of_ten(value, text):
    assert scientific(value) == text


def test_a_number_that_is_absent_is_a_dash():
    assert percent(math.nan) == signed(math.nan) == "–"


def test_negative_numbers_have_a_true_minus_sign():
    assert (signed(-0.5), signed(-1.26, digits=1)) == ("−0.50", "−1.3")
