"""Texts are read in batches, and no further than their first tokens need."""

from collections import Counter
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import Entry
from precompute.corpora.tokenizing import encoded
from precompute.corpora.tokenizing.encoded import beginning, fitted, in_batches
from tests.precompute.corpora.tiny import (
    TOKENIZERS,
    bert_like,
    digits_apart,
    gpt2_like,
    llama_like,
    rebuilt,
    unhurried,
)

PIECES = ["▁", *ascii_lowercase, "▁the", "▁cat", "▁sat", "th", "at", "。", "▁▁"]


def _unigram(*more: str, split: bool) -> PreTrainedTokenizerFast:
    scored = [(piece, -float(len(PIECES) - n)) for n, piece in enumerate([*PIECES, *more])]
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *scored], unk_id=0))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


OF_GEMMA: dict[str, Any] = {
    "normalizer": normalizers.Replace(" ", "▁"),
    "pre_tokenizer": pre_tokenizers.Split(" ", "merged_with_previous"),
}
KINDS: dict[str, PreTrainedTokenizerFast] = {
    **{family: build() for family, build in TOKENIZERS.items()},
    "digits apart": digits_apart(),
    "like T5": _unigram(split=True),
    "Unigram in one chunk": _unigram(split=False),
    "like Llama 3": rebuilt(
        gpt2_like,
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(encoded._LLAMA_3), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    ),
    "like Gemma": rebuilt(llama_like, **OF_GEMMA),
}
UNPROVEN: dict[str, PreTrainedTokenizerFast] = {
    "a piece across words": _unigram("t▁c", split=False),
    "a space goes with what is before it": rebuilt(
        gpt2_like, pre_tokenizer=pre_tokenizers.Split(" ", "merged_with_previous")
    ),
    "an unknown expression": rebuilt(
        gpt2_like, pre_tokenizer=pre_tokenizers.Split(Regex("t c"), "removed")
    ),
    "a replacement across words": rebuilt(gpt2_like, normalizer=normalizers.Replace("t c", "x")),
    "an added token across words": bert_like(),
}
UNPROVEN["an added token across words"].add_tokens(["t c"])
SOME = (
    *("the", "cat", "sat,", "zz", "é", "e\u0301", "12", "日本。語", "\u0d4e", "𑇂", "a\u200bb"),
    *("[SEP]", "</s>", "<s>", "☃☃", "it's", "?!", "\n", " ", "  ", "\t", "。", "\u0301"),
)
texts = st.lists(
    st.tuples(st.sampled_from(SOME), st.sampled_from([" ", " ", "  ", "", "\u3000"])),
    min_size=1,
    max_size=40,
).map(lambda parts: "cat " + "".join(map("".join, parts)))


def _read(tokenizer: PreTrainedTokenizerFast, batch: list, max_tokens: int) -> list[tuple]:
    return [
        (read.encoded.ids.tolist(), read.encoded.words.tolist(), read.encoded.sides, read.is_cut)
        for read in fitted(tokenizer, batch, max_tokens=max_tokens)
    ]


@pytest.mark.parametrize("kind", KINDS)
@unhurried(30)
@given(
    batch=st.lists(st.tuples(texts, texts), min_size=1, max_size=3), max_tokens=st.integers(6, 20)
)
def test_the_tokens_of_a_beginning_are_those_of_the_whole_text(kind, batch, max_tokens):
    singles = [texts[:1] for texts in batch]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded, "_CHARACTERS", 1)
        found = [_read(KINDS[kind], some, max_tokens) for some in (batch, singles)]
        patch.setattr(encoded, "beginning", lambda text, *_: text)
        whole = [_read(KINDS[kind], some, max_tokens) for some in (batch, singles)]
    assert found == whole


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_long_text_no_more_is_read_than_its_first_tokens_need(kind):
    long = "the cat sat " * 10_000
    (read,) = fitted(KINDS[kind], [(long,)], max_tokens=20)
    assert read.is_cut
    assert long.startswith(read.texts[0])
    assert len(read.texts[0]) < 20 * 16 + 4


JAPANESE, ENGLISH = "日本語の文。" * 100, "the cat sat cat " * 100
BEGINNINGS = {
    **{kind: (KINDS[kind], JAPANESE, JAPANESE[:35]) for kind in ("bert", "gpt2", "like Llama 3")},
    **{kind: (tokenizer, ENGLISH, ENGLISH) for kind, tokenizer in UNPROVEN.items()},
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_text_ends_before_a_space_or_full_stop_or_nowhere_if_tokens_may_reach_across(kind):
    tokenizer, text, expected = BEGINNINGS[kind]
    assert beginning(text, 30, tokenizer) == expected


def test_a_text_of_which_a_beginning_gives_nothing_is_read_on():
    text = "\u200b" * 5000 + "a " + "the cat " * 500
    (read,) = fitted(bert_like(), [(text,)], max_tokens=9)
    assert bert_like().convert_ids_to_tokens(read.encoded.ids.tolist()) == [
        *("[CLS]", "a", "the", "cat", "the", "cat", "the", "cat", "[SEP]")
    ]
    assert len(read.texts[0]) < 11_000


ENTRIES = [
    *(Entry(f"f line {n}", (word,)) for n, word in enumerate(["cat"] * 300, start=1)),
    Entry("f line 301", ("the", "cat")),
    *(Entry("f line 302", tokens=("[CLS]", "the", "[SEP]")) for _ in range(2)),
    Entry("f line 303", ("the cat sat the cat",)),
]


def _sequences(entries, counts=None):
    encoder = Encoder(bert_like(), positions=9, segment_types=2, max_tokens=5)
    return encoder.sequences(entries, counts=Counter() if counts is None else counts, first=7)


def test_entries_read_together_are_those_read_alone():
    counts, alone = Counter(), Counter()
    together = list(_sequences(ENTRIES, counts))
    singly = [next(_sequences([entry], alone)) for entry in ENTRIES]
    assert [sequence.index for sequence in together] == list(range(7, 7 + len(ENTRIES)))
    assert [(of.tokens, of.text, of.place) for of in together] == [
        (of.tokens, of.text, of.place) for of in singly
    ]
    assert [len(batch) for batch in in_batches(ENTRIES)] == [256, 44, 1, 1, 1, 1]
    assert [len(batch) for batch in in_batches([Entry("f", ("cat " * 2**17,))] * 5)] == [2, 2, 1]
    assert counts == alone == Counter(truncated=1)
