import numpy as np
import pytest

from precompute.corpora.sequence import NO_WORD
from precompute.corpora.special_tokens import encoding
from precompute.corpora.tokenizing.words import numbered_through, words_of_spans, words_of_tokens
from tests.precompute.corpora.tiny import llama_like
from tests.tiny import TEXT_FAMILIES, tiny_sequences


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("[CLS]", "det", "##our", "a", "."), [0, 1, 1, 2, 3]),
        (("<s>", "The", "Ġdet", "our", ",", "Ġa"), [0, 1, 2, 2, 3, 4]),
        (("##our", "a"), [0, 1]),
        (("<s>", "▁The", "▁det", "our", ",", "▁", "1", "2"), [0, 1, 2, 2, 3, 4, 4, 4]),
        (("▁caf", "<0xC3>", "<0xA9>", "s", ".", "<0x0A>", "<0x0A>", "a"), [0, 0, 0, 0, 1, 2, 3, 4]),
        (("Ġcaf", "Ã", "©", "Ċ", "a"), [0, 0, 0, 1, 2]),
    ],
)
def test_words_are_told_from_the_marks_of_pieces(tokens, words):
    assert words_of_tokens(tokens).tolist() == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat's", [0, 0, 0, 1, 1, 1, 1, 2, 3]),
        ("が が。\n 猫", [0, 1, 1, 1, 2, 3, 4, 4]),
        ("▁_ A", [0, 1, 2, 2]),
    ],
)
def test_a_run_of_letters_is_a_word_and_a_space_belongs_to_what_follows(text, words):
    assert words_of_spans(text, range(len(text))) == words


def test_a_text_in_pieces_has_the_words_of_the_whole_text():
    encoded = encoding(llama_like(), "catty, é2.", "the cats")
    assert encoded.tokens == (
        *("<s>", "▁cat", "t", "y", ",", "▁", "<0xC3>", "<0xA9>", "2", ".", "<s>", "▁the", "▁cat"),
        "s",
    )
    words = [NO_WORD, 0, 0, 0, 2, 4, 4, 4, 4, 6, NO_WORD, 1, 3, 3]
    assert encoded.words.tolist() == words


def test_two_texts_share_no_word():
    words = numbered_through([None, 0, 0, 1, None, 0, None], [None, 0, 0, 0, None, 1, None])
    assert words.tolist() == [NO_WORD, 0, 0, 2, NO_WORD, 1, NO_WORD]


@pytest.mark.parametrize("family", TEXT_FAMILIES)
def test_tokens_of_a_sequence_stand_for_words_unless_they_frame_it(family):
    for sequence in tiny_sequences(family):
        framing = np.isin(sequence.tokens, ["[CLS]", "[SEP]", "<s>", "</s>"])
        assert ((sequence.words == NO_WORD) == framing).all()
        assert not sequence.masked.any()
