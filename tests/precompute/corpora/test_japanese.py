"""Texts, pairs, tokens and treebank words of Japanese, by words of MeCab."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertJapaneseTokenizer

from analysis.errors import UnfitModel
from precompute.corpora.encode import Encoder
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import NO_WORD, Annotation, Entry
from precompute.corpora.token_types import masked
from precompute.corpora.tokenizing.kind import word_pieces, words_of_japanese
from tests.precompute.corpora.tiny import PLACE, unhurried
from tests.precompute.corpora.tiny_japanese import japanese_like
from tests.refusals import refused

JAPANESE = japanese_like()
texts = st.text("猫犬がは。、国際連合東京か\u3099 　1２ab[]\n", max_size=20)


def encode(entry, tokenizer=JAPANESE, *, max_tokens=64, segment_types=2):
    counts = Counter()
    encoder = Encoder(tokenizer, positions=64, segment_types=segment_types, max_tokens=max_tokens)
    (sequence,) = encoder.sequences([entry], counts=counts)
    return sequence, counts["truncated"]


def words_by_name(sequence):
    """The pieces of each word, in order."""
    return [
        "".join(np.array(sequence.tokens)[sequence.words == word]).replace("##", "")
        for word in dict.fromkeys(sequence.words.tolist())
        if word != NO_WORD
    ]


@pytest.mark.parametrize("subwords", ["wordpiece", "character"])
@unhurried(60)
@given(parts=st.lists(texts | st.sampled_from(["[MASK]", "[SEP]"]), max_size=4))
def test_the_words_in_order_are_what_the_tokenizer_itself_makes(subwords, parts):
    tokenizer, text = japanese_like(subwords), "".join(parts)
    words = words_of_japanese(text, tokenizer)
    made = tokenizer.tokenize(text, split_special_tokens=True)
    assert [piece for word in words for piece in word] == made
    assert all(words)


def test_pieces_of_one_word_share_it_and_those_of_two_do_not():
    sequence, _ = encode(Entry(PLACE, ("吾輩は猫。国際連合が鳴く",)))
    assert sequence.tokens == (
        *("[CLS]", "吾", "##輩", "は", "猫", "。", "国", "##際", "連", "##合", "が", "鳴く"),
        "[SEP]",
    )
    assert words_by_name(sequence) == ["吾輩", "は", "猫", "。", "国際", "連合", "が", "鳴く"]
    assert sequence.text == "吾輩は猫。国際連合が鳴く"


@unhurried(40)
@given(first=texts, second=texts)
def test_ids_and_segments_are_those_of_the_tokenizer_itself(first, second):
    if not (JAPANESE.tokenize(first) and JAPANESE.tokenize(second)):
        return
    for given_texts, entry in (
        ((first,), Entry(PLACE, (first,))),
        ((first, second), Entry(PLACE, (first, second))),
    ):
        sequence, _ = encode(entry)
        seen = JAPANESE(*given_texts, return_token_type_ids=True)
        assert sequence.ids.tolist() == seen["input_ids"]
        assert sequence.segments.tolist() == seen["token_type_ids"]
        again, _ = encode(Entry(PLACE, tokens=sequence.tokens))
        assert again.ids.tolist() == sequence.ids.tolist()


def test_a_pair_that_is_too_long_loses_the_end_of_the_longer_text():
    sequence, lost = encode(Entry(PLACE, ("猫は犬を見た", "犬が鳴く")), max_tokens=9)
    assert sequence.tokens == (*("[CLS]", "猫", "は", "犬", "[SEP]", "犬", "が", "鳴く", "[SEP]"),)
    assert lost == 1
    assert sequence.segments.tolist() == [0] * 5 + [1] * 4
    assert len(set(sequence.words.tolist())) == 7


def test_a_mask_among_tokens_and_one_that_is_drawn_are_masked_and_no_words():
    tokens = ("[CLS]", "猫", "は", "[MASK]", "を", "見", "た", "[SEP]")
    sequence, _ = encode(Entry(PLACE, tokens=tokens))
    assert sequence.tokens[3] == "[MASK]"
    assert sequence.masked.tolist() == [False] * 3 + [True] + [False] * 4
    assert sequence.words[3] == NO_WORD
    hidden = masked(sequence, JAPANESE, rate=0.5, seed=0)
    assert hidden.targets is not None
    assert (hidden.targets >= 0).sum() + 1 == hidden.masked.sum() == 4
    assert (hidden.words[hidden.masked] == NO_WORD).all()


def test_words_of_a_treebank_are_tokenised_one_by_one():
    forms = ("国際連合", "が", "見", "た")
    pieces = word_pieces(forms, (False,) * 4, JAPANESE, place=PLACE)
    assert pieces == (("国", "##際", "連", "##合"), ("が",), ("見",), ("た",))
    known = Annotation(
        forms=forms,
        spaces=(False,) * 4,
        sentences=(0,) * 4,
        parts_of_speech=("NOUN", "ADP", "VERB", "AUX"),
        features=("",) * 4,
        governors=None,
        relations=None,
    )
    sequence, _ = encode(Entry(PLACE, annotation=known))
    assert sequence.text == "国際連合が見た"
    assert sequence.word_spans is not None
    assert sequence.word_spans.tolist() == [[1, 5], [5, 6], [6, 7], [7, 8]]
    assert sequence.words.tolist() == [NO_WORD, 0, 0, 0, 0, 1, 2, 3, NO_WORD]


def test_tokens_are_told_as_a_text_without_spaces_but_between_latin_words():
    tokens = ("[CLS]", "吾", "##輩", "は", "Tokyo", "a", "##b", "1", "駅", "[SEP]", "猫", "[SEP]")
    assert encode(Entry(PLACE, tokens=tokens))[0].text == "吾輩はTokyo ab 1駅\n猫"


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


def test_a_corpus_is_read_anew_by_another_dictionary_and_other_pieces():
    states = {
        str(
            read_corpus("demo", tokenizer, positions=64, segment_types=2, max_tokens=64).settings[
                "reader"
            ]
        )
        for tokenizer in (JAPANESE, japanese_like(), japanese_like("character"))
    }
    assert len(states) == 2
