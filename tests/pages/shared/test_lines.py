"""Lines are as wide as they may be, and break where a reader would."""

import pytest

from pages.words.lines import width_of, wrapped

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
