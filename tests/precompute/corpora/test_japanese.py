"""Texts, pairs, tokens and treebank words of Japanese, by words of MeCab."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertJapaneseTokenizer

from analysis.errors import UnfitModel
from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import NO_WORD, Annotation, Entry
from precompute.corpora.tokenizing.kind import words_of_japanese
from tests.precompute.corpora.tiny import PLACE, unhurried
from tests.precompute.corpora.tiny_japanese import japanese_like
from tests.refusals import refused

JAPANESE = japanese_like()
texts = st.text("猫犬がは。、国際連合東京か\u3099 　1２ab[]\n", max_size=20)


def encode(entry, *, max_tokens=64):
    encoder = Encoder(JAPANESE, positions=64, segment_types=2, max_tokens=max_tokens)
    counts = Counter()
    (sequence,) = encoder.sequences([entry], counts=counts)
    return sequence, counts["truncated"]


@pytest.mark.parametrize("subwords", ["wordpiece", "character"])
@unhurried(60)
@given(parts=st.lists(texts | st.sampled_from(["[MASK]", "[SEP]"]), max_size=4))
def test_the_words_in_order_are_what_the_tokenizer_itself_makes(subwords, parts):
    tokenizer, text = japanese_like(subwords), "".join(parts)
    words = words_of_japanese(text, tokenizer)
    made = tokenizer.tokenize(text, split_special_tokens=True)
    assert [piece for word in words for piece in word] == made
    assert all(words)


@unhurried(40)
@given(first=texts, second=texts)
def test_ids_and_segments_are_those_of_the_tokenizer_itself(first, second):
    if not (JAPANESE.tokenize(first) and JAPANESE.tokenize(second)):
        return
    for given_texts in ((first,), (first, second)):
        sequence, _ = encode(Entry(PLACE, given_texts))
        seen = JAPANESE(*given_texts, return_token_type_ids=True)
        assert sequence.ids.tolist() == seen["input_ids"]
        assert sequence.segments.tolist() == seen["token_type_ids"]
        again, _ = encode(Entry(PLACE, tokens=sequence.tokens))
        assert again.ids.tolist() == sequence.ids.tolist()


WORDS = ("国際連合", "が", "見", "た")
KNOWN = Annotation(WORDS, (False,) * 4, (0,) * 4, None, None, ("NOUN",) * 4, ("",) * 4)
TOLD = "[CLS] 吾 ##輩 は Tokyo a ##b 1 駅 [SEP] 猫 [SEP]"
ENTRIES = {
    "pieces of one word share it and those of two do not": (
        Entry(PLACE, ("吾輩は猫。国際連合が鳴く",)),
        "[CLS] 吾 ##輩 は 猫 。 国 ##際 連 ##合 が 鳴く [SEP]",
        [-1, 0, 0, 1, 2, 3, 4, 4, 5, 5, 6, 7, -1],
        "吾輩は猫。国際連合が鳴く",
    ),
    "words of a treebank are tokenised one by one": (
        Entry(PLACE, annotation=KNOWN),
        "[CLS] 国 ##際 連 ##合 が 見 た [SEP]",
        [-1, 0, 0, 0, 0, 1, 2, 3, -1],
        "国際連合が見た",
    ),
    "tokens are told without spaces but between Latin words": (
        Entry(PLACE, tokens=tuple(TOLD.split())),
        TOLD,
        [-1, 0, 0, 1, 2, 3, 3, 4, 5, -1, 6, -1],
        "吾輩はTokyo ab 1駅\n猫",
    ),
    "a mask is no word": (
        Entry(PLACE, tokens=("猫", "[MASK]", "た")),
        "猫 [MASK] た",
        [0, -1, 1],
        "猫[MASK]た",
    ),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_an_entry_has_tokens_words_and_a_text(case):
    entry, tokens, words, text = ENTRIES[case]
    sequence, lost = encode(entry)
    assert " ".join(sequence.tokens) == tokens
    assert sequence.masked.tolist() == [token == "[MASK]" for token in sequence.tokens]
    numbers = dict.fromkeys(word for word in sequence.words.tolist() if word != NO_WORD)
    order = {word: place for place, word in enumerate(numbers)} | {NO_WORD: NO_WORD}
    assert [order[word] for word in sequence.words.tolist()] == words
    assert (sequence.text, lost) == (text, 0)


@pytest.mark.parametrize("settings", [{"do_word_tokenize": False}, {"do_subword_tokenize": False}])
def test_a_tokenizer_without_words_or_pieces_is_refused(settings, tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(JAPANESE.get_vocab()), encoding="utf-8")
    tokenizer = BertJapaneseTokenizer(str(tmp_path / "vocab.txt"), **settings)
    options = {"do_word_tokenize": True, "do_subword_tokenize": True} | settings
    sizes = {"positions": 9, "segment_types": 2, "max_tokens": 9}
    assert refused(UnfitModel, Encoder, tokenizer, **sizes) == (
        "BertJapaneseTokenizer is read where it makes words (`do_word_tokenize`) and then pieces "
        f"by wordpiece or character; this one has do_word_tokenize {options['do_word_tokenize']}, "
        f"do_subword_tokenize {options['do_subword_tokenize']}, subword_tokenizer_type 'wordpiece'."
    )
