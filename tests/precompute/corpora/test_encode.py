"""Texts, pairs and tokens as sequences of a model, their types, and tokens drawn to be masked."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.processors import TemplateProcessing
from transformers import ByT5Tokenizer

from analysis.errors import UnfitModel, UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import CLS, SEP, TOKEN_TYPES
from precompute.corpora.encode import Encoder, TokenTypes, masked
from precompute.corpora.sequence import NO_WORD, PURPOSES, Entry, bare_sequence, generator
from tests.precompute.corpora.tiny import (
    BUILT,
    FRAMES,
    PLACE,
    TOKENIZERS,
    assert_same_sequences,
    bert_like,
    encode,
    roberta_like,
    unhurried,
)
from tests.refusals import refused

words = st.lists(st.sampled_from(["the", "cat", "sat,", "zz.", "é"]), min_size=1, max_size=15)
texts = words.map(" ".join)


def shortened(sides, room):
    """Slow twin: one token at a time from the longer text's end, the last text's if they tie."""
    sides = [list(side) for side in sides]
    while sum(map(len, sides)) > room:
        longest = max(map(len, sides))
        [side for side in sides if len(side) == longest][-1].pop()
    return sides


@pytest.mark.parametrize("family", TOKENIZERS)
@unhurried(40)
@given(first=texts, second=texts)
def test_what_fits_is_what_the_tokenizer_itself_makes_of_it(family, first, second):
    for entry, given_texts in (
        (Entry(PLACE, (first,)), [first]),
        (Entry(PLACE, (first, second)), [first, second]),
    ):
        sequence, truncated = encode(entry, family, positions=500, max_tokens=500)
        if family == "gpt2":  # nothing of its template parts two texts, so a line break does
            given_texts = ["\n".join(given_texts)]
        tokenizer: Any = BUILT[family]
        expected = tokenizer(*given_texts, return_token_type_ids=True)
        assert sequence.ids.tolist() == expected["input_ids"]
        assert list(sequence.tokens) == expected.tokens()
        segments = expected["token_type_ids"] if family == "bert" else [0] * len(sequence)
        assert sequence.segments.tolist() == segments
        assert (sequence.text, sequence.place) == ("\n".join(given_texts), PLACE)
        assert not truncated


@pytest.mark.parametrize("family", TOKENIZERS)
@unhurried(40)
@given(first=texts, second=texts, max_tokens=st.integers(6, 40))
def test_what_does_not_fit_is_cut_as_the_slow_twin_cuts_it(family, first, second, max_tokens):
    tokenizer, (before, between, after) = BUILT[family], FRAMES[family]
    line_break = "" if between else "\n"
    uncut = tokenizer.tokenize(first), tokenizer.tokenize(line_break + second)
    room = max_tokens - len(before + between + after)
    first_cut, other = shortened(uncut, room)
    sequence, truncated = encode(Entry(PLACE, (first, second)), family, max_tokens=max_tokens)
    assert list(sequence.tokens) == before + first_cut + between + other + after
    assert truncated == (sum(map(len, uncut)) > room)
    (alone,) = shortened(uncut[:1], max_tokens - len(before + after))
    sequence, truncated = encode(Entry(PLACE, (first,)), family, max_tokens=max_tokens)
    assert list(sequence.tokens) == before + alone + after
    assert truncated == (len(alone) < len(uncut[0]))


def test_segments_that_are_not_given_change_after_the_first_separator():
    entry = Entry(PLACE, tokens=("[CLS]", "the", "[SEP]", "cat", "[SEP]"))
    for segment_types, segments in ((2, [0, 0, 0, 1, 1]), (1, [0] * 5)):
        assert encode(entry, segment_types=segment_types)[0].segments.tolist() == segments


ONE = Entry(PLACE, ("the",))
REFUSED: dict[str, tuple[Entry, dict[str, int]]] = {
    rf"{PLACE}: the tokenizer makes no token of '\u200b'; leave it out": (
        Entry(PLACE, ("the", "\u200b")),
        {},
    ),
    rf"{PLACE}: the model's tokenizer has no token '<b>\n'; give the corpus as text, or use the "
    "model it was tokenized for": (Entry(PLACE, tokens=("the", "<b>\n")), {}),
    f"{PLACE}: 65 tokens, but the model reads at most 64; make it shorter": (
        Entry(PLACE, tokens=("the",) * 65),
        {},
    ),
    f"{PLACE}: segment id 2, but the model knows 2 segment type(s), counted from 0; leave "
    "`segments` out": (Entry(PLACE, tokens=("the",), segments=(2,)), {}),
    "--max-tokens is 65, but the model reads at most 64 tokens: the largest value allowed is 64.": (
        ONE,
        {"max_tokens": 65},
    ),
    "--max-tokens is 2, but one text needs at least 3 with this tokenizer's 2 special token(s).": (
        ONE,
        {"max_tokens": 2},
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_an_entry_or_length_that_the_model_cannot_read_is_named(message):
    entry, sizes = REFUSED[message]
    assert refused(UserError, encode, entry, **sizes) == message


def test_a_tokenizer_written_in_python_is_refused():
    sizes: dict[str, Any] = {"positions": 9, "segment_types": 2, "max_tokens": 9}
    assert refused(UnfitModel, Encoder, ByT5Tokenizer(), **sizes) == (
        "ByT5Tokenizer is a tokenizer written in Python, which cannot tell the tokens of a text "
        "from those it adds; of such tokenizers BertJapaneseTokenizer alone is read. Use a model "
        "that has a tokenizer.json."
    )


def changed(tokenizer, *, add: str = "", template: str = "", **attributes):
    """The tokenizer with added tokens, another template or other special tokens."""
    tokenizer.add_tokens(add.split())
    for name, value in attributes.items():
        setattr(tokenizer, name, value)
    if template:
        end = ("</s>", tokenizer.convert_tokens_to_ids("</s>"))
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=template, special_tokens=[end] if "</s>" in template else []
        )
    return tokenizer


MARKS = "▁, ▁. .</w> 、 。 ， ． ãĢģ Ġï¼Į"
TYPES = {
    "RoBERTa": (BUILT["roberta"], "<s>:cls </s>:sep Ġ,:comma_period Ġ.:comma_period Ġ:other"),
    "Llama": (BUILT["llama"], "<s>:bos ▁,:comma_period </s>:other ▁:other <0x2C>:other ▁the:other"),
    "one token for both ends": (
        changed(roberta_like(), sep_token="<s>"),
        "<s>:other ,:comma_period </s>:other",
    ),
    "marks of words, and Japanese": (
        changed(bert_like(), add=f"{MARKS} ▁a ・ 「"),
        " ".join(
            [*(f"{mark}:comma_period" for mark in MARKS.split()), "▁a:other ・:other 「:other"]
        ),
    ),
}


@pytest.mark.parametrize("case", TYPES)
def test_each_token_is_of_one_type(case):
    tokenizer, expected = TYPES[case]
    tokens, kinds = zip(*(pair.rsplit(":", 1) for pair in expected.split()), strict=True)
    ids = np.array(tokenizer.convert_tokens_to_ids(list(tokens)), dtype=np.int32)
    assert tuple(TOKEN_TYPES[kind] for kind in TokenTypes(tokenizer)(ids)) == kinds


@pytest.mark.parametrize(
    ("family", "tokens", "opening"),
    [
        *(("bert", "the [SEP]", "first"), ("bert", "[SEP] the", "sep")),
        *(("bert", "[MASK] the", "other"), ("gpt2", "<|end|> t <|end|>", "first")),
        *(("llama", "<s> ▁the <s>", "bos"), ("llama", "▁the <s> ▁,", "first")),
    ],
)
def test_what_a_causal_model_reads_first_is_told_apart_unless_it_is_special_or_masked(
    family, tokens, opening
):
    entry = Entry(PLACE, tokens=tuple(tokens.split()))
    bare = encode(entry, family)[0].named_types
    assert "first" not in bare
    assert encode(entry, family, is_causal=True)[0].named_types == (opening, *bare[1:])


TOKENIZER = bert_like()
MASK = TOKENIZER.mask_token_id


def sequence_of(tokens, index=0):
    ids = np.array(TOKENIZER.convert_tokens_to_ids(list(tokens)), dtype=np.int32)
    known = {"index": index, "tokens": tuple(tokens), "token_types": TokenTypes(TOKENIZER)(ids)}
    return bare_sequence(ids, words=np.arange(len(ids), dtype=np.int32), **known)


@unhurried(50)
@given(
    tokens=st.lists(st.sampled_from(["the", "cat", ",", ".", "[UNK]"]), min_size=1, max_size=60),
    rate=st.floats(0, 1, exclude_max=True).filter(bool),
    seed=st.integers(0, 9),
    index=st.integers(0, 9),
)
def test_as_many_tokens_are_masked_as_the_papers_say_and_what_stood_there_is_kept(
    tokens, rate, seed, index
):
    sequence = sequence_of(["[CLS]", *tokens, "[SEP]"], index)
    result = masked(sequence, TOKENIZER, rate=rate, seed=seed)
    changed = result.ids != sequence.ids
    assert changed.sum() == max(1, math.floor(rate * len(tokens)))
    assert (result.ids[changed] == MASK).all()
    assert (result.masked == changed).all()
    assert_same_sequences((result,), (sequence_of(result.tokens, index),))
    assert ((result.words == NO_WORD) == changed).all()
    assert not changed[np.isin(sequence.token_types, (CLS, SEP))].any()
    assert result.targets is not None
    assert ((result.targets == NO_TARGET) == ~changed).all()
    assert (np.where(changed, result.targets, result.ids) == sequence.ids).all()
    assert sequence.targets is None
    assert masked(sequence, TOKENIZER, rate=0.0, seed=seed) is sequence
    empty = sequence_of(["[CLS]", *[], "[SEP]"])
    assert masked(empty, TOKENIZER, rate=rate, seed=seed) is empty


def test_a_draw_depends_on_the_seed_and_the_sequence_alone():
    def draw(seed, index):
        sequence = sequence_of(["[CLS]", *["the"] * 50, "[SEP]"], index)
        return masked(sequence, TOKENIZER, rate=0.12, seed=seed).tokens

    assert len({draw(seed, index) for seed in range(5) for index in range(5)}) == 25
    keys = list(product((0, 1, 2**32, 2**32 + 1), PURPOSES, range(4)))
    streams = {
        tuple(generator(seed, purpose=purpose, index=index).integers(2**62, size=4))
        for seed, purpose, index in keys * 2
    }
    assert len(streams) == len(keys)


def test_what_a_corpus_had_masked_itself_is_not_known():
    sequence = sequence_of(["[CLS]", *["[MASK]", "cat"], "[SEP]"])
    given_masked = replace(sequence, masked=sequence.ids == MASK)
    cat = int(sequence.ids[2])
    drawn = [masked(given_masked, TOKENIZER, rate=0.5, seed=seed).targets for seed in range(20)]
    kept = {tuple(row.tolist()) for row in drawn if row is not None}
    assert kept == {(-1, -1, cat, -1), (-1, -1, -1, -1)}  # its own mask, drawn, stands for nothing
