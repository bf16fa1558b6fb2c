import numpy as np
import pytest

from precompute.corpora.sequence import NO_WORD
from precompute.corpora.words import words_of_texts, words_of_tokens
from tests.tiny import TEXT_FAMILIES, tiny_sequences


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("[CLS]", "det", "##our", "a", "."), [0, 1, 1, 2, 3]),
        (("<s>", "The", "Ġdet", "our", ",", "Ġa"), [0, 1, 2, 2, 3, 4]),
        (("##our", "a"), [0, 1]),
    ],
)
def test_words_are_told_from_the_marks_of_pieces(tokens, words):
    assert words_of_tokens(tokens).tolist() == words


def test_two_texts_share_no_word():
    words = words_of_texts([None, 0, 0, 1, None, 0, None], [None, 0, 0, 0, None, 1, None])
    assert words.tolist() == [NO_WORD, 0, 0, 2, NO_WORD, 1, NO_WORD]


@pytest.mark.parametrize("family", TEXT_FAMILIES)
def test_tokens_of_a_sequence_stand_for_words_unless_they_frame_it(family):
    for sequence in tiny_sequences(family):
        framing = np.isin(sequence.tokens, ["[CLS]", "[SEP]", "<s>", "</s>"])
        assert ((sequence.words == NO_WORD) == framing).all()
        assert not sequence.masked.any()
