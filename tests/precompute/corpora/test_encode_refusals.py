from collections import Counter

import pytest
from tokenizers.processors import TemplateProcessing
from transformers import ByT5Tokenizer

from analysis.errors import BadCorpus, UnfitModel, UserError
from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import Entry
from tests.precompute.corpora.tiny import PLACE, bert_like, encode
from tests.refusals import refused

NO_TOKEN = "give the corpus as text, or use the model it was tokenized for"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            Entry(PLACE, ("\u200b\x00",)),
            r"the tokenizer makes no token of '\u200b\x00'; leave it out",
        ),
        (
            Entry(PLACE, ("the", "\u200b")),
            r"the tokenizer makes no token of '\u200b'; leave it out",
        ),
        (
            Entry(PLACE, tokens=("the", "catt")),
            f"the model's tokenizer has no token 'catt'; {NO_TOKEN}",
        ),
        (
            Entry(PLACE, tokens=("<b>\n",)),
            rf"the model's tokenizer has no token '<b>\n'; {NO_TOKEN}",
        ),
        (
            Entry(PLACE, tokens=("the",) * 65),
            "65 tokens, but the model reads at most 64; make it shorter",
        ),
        (
            Entry(PLACE, tokens=("the", "cat"), segments=(0, 2)),
            "segment id 2, but the model knows 2 segment type(s), counted from 0; leave `segments` "
            "out",
        ),
    ],
)
def test_entry_that_the_model_cannot_read_is_named(entry, message):
    assert refused(BadCorpus, encode, entry) == f"{PLACE}: {message}"


@pytest.mark.parametrize("segment_types", [0, 1])
def test_segments_other_than_0_are_refused_by_a_model_without_them(segment_types):
    sequence, _ = encode(Entry(PLACE, tokens=("the",), segments=(0,)), segment_types=segment_types)
    assert sequence.segments.tolist() == [0]
    of_another = Entry(PLACE, tokens=("the",), segments=(1,))
    assert refused(BadCorpus, encode, of_another, segment_types=segment_types) == (
        f"{PLACE}: segment id 1, but the model knows {segment_types} segment type(s), counted from "
        "0; leave `segments` out"
    )


@pytest.mark.parametrize(
    ("entry", "sizes", "message"),
    [
        (
            Entry(PLACE, ("the",)),
            {"max_tokens": 65},
            "--max-tokens is 65, but the model reads at most 64 tokens: the largest value allowed "
            "is 64.",
        ),
        (
            Entry(PLACE, ("the",)),
            {"max_tokens": 2},
            "--max-tokens is 2, but one text needs at least 3 with this tokenizer's 2 special "
            "token(s).",
        ),
        (
            Entry(PLACE, ("the", "the")),
            {"max_tokens": 4},
            "--max-tokens is 4, but a pair of texts needs at least 5 with this tokenizer's 3 "
            "special token(s).",
        ),
    ],
)
def test_length_that_cannot_be_is_refused(entry, sizes, message):
    assert refused(UserError, encode, entry, **sizes) == message


def test_shortest_lengths_that_can_be_are_taken():
    assert encode(Entry(PLACE, ("the cat",)), max_tokens=3)[0].tokens == ("[CLS]", "the", "[SEP]")
    assert len(encode(Entry(PLACE, ("the cat", "a b")), max_tokens=5)[0]) == 5


def test_segment_ids_of_the_tokenizer_must_be_the_model_s():
    tokenizer = bert_like()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A", pair="$A $B:2", special_tokens=[]
    )
    encoder = Encoder(tokenizer, positions=9, segment_types=2, max_tokens=9)
    sequences = encoder.sequences([Entry(PLACE, ("the", "cat"))], counts=Counter())
    assert refused(UnfitModel, list, sequences) == (
        "The tokenizer gives segment id 2, but the model knows 2 segment types: load a tokenizer "
        "that belongs to the model."
    )


def test_tokenizer_that_cannot_tell_its_own_tokens_from_the_text_s_is_refused():
    sizes = {"positions": 9, "segment_types": 2, "max_tokens": 9}
    assert refused(UnfitModel, Encoder, ByT5Tokenizer(), **sizes) == (
        "ByT5Tokenizer is a tokenizer written in Python, which cannot tell the tokens of a text "
        "from those it adds; of such tokenizers BertJapaneseTokenizer alone is read. Use a model "
        "that has a tokenizer.json."
    )
