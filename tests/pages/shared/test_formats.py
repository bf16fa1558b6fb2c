"""Numbers as sentences write them, and lines that break where a reader would."""

import math

import pytest

from pages.words.lines import width_of, wrapped
from pages.words.numbers import offset_label, percent, scientific, signed


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


@pytest.mark.parametrize(("offset", "written"), [(0, "0"), (3, "+3"), (-10, "−10")])
def test_offsets_are_written_with_their_sign(offset, written):
    assert offset_label(offset) == written


JAPANESE = (
    "72 ヘッド中 57 ヘッド（79%）で、重み付き和が最大になる相対位置と、"
    "注意が最も集まる相対位置が一致します（95%区間：69%〜88%）。"
)
ENGLISH = "Of 106 words, layer 3, head 9 finds 65% [54%, 73%], the best fixed offset 50%."


@pytest.mark.parametrize("text", [JAPANESE, ENGLISH, "", "x" * 50])
@pytest.mark.parametrize("width", [20, 33, 60])
def test_no_letter_is_lost_and_no_line_is_too_wide(text, width):
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    closing = 2 * len("）。")  # what may not begin a line hangs over the end of one
    longest = max(map(width_of, text.split()), default=0) if text.isascii() else 0
    assert all(width_of(line) <= max(width + closing, longest) for line in lines)


@pytest.mark.parametrize("width", range(12, 70, 7))
def test_closing_marks_and_per_cent_signs_begin_no_line_and_opening_marks_end_none(width):
    for line in (*wrapped(JAPANESE, width), *wrapped(ENGLISH, width)):
        assert line[0] not in "、。）：%"
        assert not line.endswith(("（", "「", " "))


def test_a_long_address_is_broken_between_its_parameters():
    address = "http://localhost/token-pairs?" + "&".join(f"name_{n}=value" for n in range(20))
    lines = wrapped(f"Source. {address}", 80)
    assert max(map(len, lines)) <= 80
    assert "".join(lines) == f"Source. {address}"
