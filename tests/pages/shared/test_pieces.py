"""Word pieces become readable text, whatever tokenizer wrote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.drawn.pieces import readable, written
from pages.drawn.shading import Shaded, Shades, text
from tests.precompute.corpora.tiny import roberta_like

THIN = "\u2009"


def joined(tokens: list[str]) -> str:
    """The text, without the thin marks of tokens that hold part of a character."""
    return "".join(space + shown for space, shown in readable(tokens)).replace(THIN, "").strip()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["[CLS]", "em", "##bed", "##ding", "##s", "[SEP]"], "[CLS] embeddings [SEP]"),
        (["in", "1774", ",", "he", "(", "a", "man", ")", "left", "."], "in 1774, he (a man) left."),
        (["##", "a"], "## a"),
        (["<s>", "The", "Ġcat", "Ġsat", ".", "Ċ", "</s>"], "<s>The cat sat.\n</s>"),
        (["▁The", "▁cat", "s"], "The cats"),
        (["Ġcaf", "Ã©"], "café"),
        (["Ġ猫", "x"], "猫x"),
        ([], ""),
    ],
)
def test_tokens_are_joined_as_they_are_read(tokens, expected):
    assert joined(tokens) == expected


@pytest.mark.parametrize(
    "sentence", ["The cat ran, the dog sat.", "naïve café – 猫", "a\tb\u2028c"]
)
def test_bytes_in_disguise_are_read_back(sentence):
    tokens = roberta_like().tokenize(f" {sentence}")
    assert any("Ġ" in token for token in tokens), "not a byte-level tokenizer"
    assert joined(tokens) == sentence


def test_a_token_that_holds_part_of_a_character_can_be_pointed_at():
    assert readable(["Ġa", "ç", "Į", "«"]) == [(" ", "a"), ("", THIN), ("", THIN), ("", "猫")]


@given(st.lists(st.text(max_size=8), max_size=12))
def test_nothing_of_a_token_becomes_markup(tokens):
    shaded = [Shaded(token, 0.5, token, chosen=False) for token in tokens]
    body = text(shaded, Shades(1.0))
    assert body.count("<") == body.count(">") == 2 + 2 * len(tokens)
    assert body.count('"') == 2 + 4 * len(tokens)


def test_bytes_of_a_letter_are_one_letter_beside_pieces_that_hold_spaces():
    tokens = ["<s>", "▁caf", "<0xC3>", "<0xA9>", "▁", "<0xE7>", "<0x8C>", "<0xAB>", "!"]
    assert [shown for _, shown in readable(tokens)] == [
        *("<s>", "caf", THIN, "é", "", THIN, THIN, "猫", "!"),
    ]
    assert joined(tokens) == "<s> café 猫!"


@pytest.mark.parametrize(
    ("tokens", "names"),
    [
        (["un", "##do", "##", "."], ["un", "##do", "##", "."]),
        (["Ġa", "b", "Ġ", "Ċ"], ["a", "b", "␣", "␣"]),
        (["▁", "▁a", "b"], ["␣", "a", "b"]),
    ],
)
def test_tokens_one_by_one_keep_what_tells_them_apart_and_white_space_is_seen(tokens, names):
    assert written(tokens) == names
