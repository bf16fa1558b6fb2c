from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import Entry
from tests.precompute.corpora.tiny import (
    BUILT,
    PLACE,
    TOKENIZERS,
    bert_like,
    encode,
    gpt2_like,
    unhurried,
)

words = st.lists(st.sampled_from(["the", "cat", "sat,", "zz.", "é"]), min_size=1, max_size=15)
texts = words.map(" ".join)


def shortened(sides, room):
    """Slow twin: one token at a time from the longer text's end, the last text's if they tie."""
    sides = [list(side) for side in sides]
    while sum(map(len, sides)) > room:
        longest = max(map(len, sides))
        [side for side in sides if len(side) == longest][-1].pop()
    return sides


def test_no_token_is_masked_where_there_is_no_mask_token():
    tokenizer = gpt2_like()
    tokenizer.add_tokens(["None"])  # a word of GPT-2, and what Python calls nothing
    encoder = Encoder(tokenizer, positions=64, segment_types=0, max_tokens=64)
    (sequence,) = encoder.sequences([Entry(PLACE, ("None the cat",))], counts=Counter())
    assert "None" in sequence.tokens
    assert not sequence.masked.any()


@pytest.mark.parametrize("family", TOKENIZERS)
@unhurried(40)
@given(first=texts, second=texts)
def test_what_fits_is_what_the_tokenizer_itself_makes_of_it(family, first, second):
    tokenizer = BUILT[family]
    for entry, given_texts in (
        (Entry(PLACE, (first,)), [first]),
        (Entry(PLACE, (first, second)), [first, second]),
    ):
        sequence, truncated = encode(entry, family, positions=500, max_tokens=500)
        if family == "gpt2":  # nothing of its template parts two texts, so a line break does
            given_texts = ["\n".join(given_texts)]
        expected = tokenizer(*given_texts, return_token_type_ids=True)
        assert sequence.ids.tolist() == expected["input_ids"]
        assert list(sequence.tokens) == expected.tokens()
        segments = expected["token_type_ids"] if family == "bert" else [0] * len(sequence)
        assert sequence.segments.tolist() == segments
        assert (sequence.text, sequence.place) == ("\n".join(given_texts), PLACE)
        assert not truncated


@pytest.mark.parametrize(
    ("family", "before", "between", "after"),
    [
        ("bert", ["[CLS]"], ["[SEP]"], ["[SEP]"]),
        ("roberta", ["<s>"], ["</s>", "</s>"], ["</s>"]),
        ("gpt2", [], [], []),
        ("llama", ["<s>"], ["<s>"], []),
    ],
)
@unhurried(40)
@given(first=texts, second=texts, max_tokens=st.integers(6, 40))
def test_what_does_not_fit_is_cut_as_the_slow_twin_cuts_it(
    family, before, between, after, first, second, max_tokens
):
    tokenizer = BUILT[family]
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


@pytest.mark.parametrize("family", TOKENIZERS)
@unhurried(40)
@given(first=texts, second=texts)
def test_tokens_of_a_pair_give_the_same_sequence_as_the_pair(family, first, second):
    pair, _ = encode(Entry(PLACE, (first, second)), family, max_tokens=32)
    for segments in (None, tuple(pair.segments.tolist())):
        again, truncated = encode(
            Entry(PLACE, tokens=pair.tokens, segments=segments), family, max_tokens=8
        )
        for name in ("ids", "segments", "token_types"):
            np.testing.assert_array_equal(getattr(again, name), getattr(pair, name))
        assert again.tokens == pair.tokens
        assert not truncated


def test_arrays_are_of_the_types_that_are_promised():
    for entry in (
        Entry(PLACE, ("the",)),
        Entry(PLACE, tokens=("the",)),
        Entry(PLACE, tokens=("the",), segments=(1,)),
    ):
        sequence, _ = encode(entry)
        arrays = (sequence.ids, sequence.segments, sequence.token_types)
        assert [array.dtype.name for array in arrays] == ["int32", "uint8", "uint8"]


@pytest.mark.parametrize(
    ("tokens", "segment_types", "segments"),
    [
        (["[CLS]", "the", "[SEP]", "cat", "[SEP]"], 2, [0, 0, 0, 1, 1]),
        (["[CLS]", "the", "[SEP]", "cat", "[SEP]"], 1, [0] * 5),
        (["[CLS]", "the", "[SEP]", "cat", "[SEP]"], 0, [0] * 5),
        (["the", "cat"], 2, [0, 0]),
        (["[SEP]", "[SEP]", "[SEP]"], 3, [0, 1, 1]),
    ],
)
def test_segments_that_are_not_given_change_after_the_first_separator(
    tokens, segment_types, segments
):
    sequence, _ = encode(Entry(PLACE, tokens=tuple(tokens)), segment_types=segment_types)
    assert sequence.segments.tolist() == segments


@pytest.mark.parametrize(
    ("family", "tokens", "text"),
    [
        (
            "bert",
            ["[CLS]", "the", "c", "##a", "[SEP]", "[MASK]", "dog", "[SEP]"],
            "the ca\n[MASK] dog",
        ),
        ("bert", ["[CLS]", "[SEP]"], ""),
        ("roberta", ["<s>", "th", "e", "</s>", "</s>", "Ġ", "b", "</s>"], "the\nb"),
        ("gpt2", ["th", "e", "Ġ,", "b"], "the ,b"),
        ("llama", ["<s>", "▁the", "<0xC3>", "<0xA9>", "<s>", "▁cat"], "theé\ncat"),
    ],
)
def test_tokens_are_told_as_text_a_line_for_each_part(family, tokens, text):
    assert encode(Entry(PLACE, tokens=tuple(tokens)), family)[0].text == text


def test_tokenizer_settings_for_length_and_padding_are_not_heeded():
    tokenizer = bert_like()
    tokenizer.model_max_length = 5
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=20)
    encoder = Encoder(tokenizer, positions=9, segment_types=2, max_tokens=9)
    (sequence,) = encoder.sequences([Entry(PLACE, ("the cat sat the cat",))], counts=Counter())
    assert len(sequence) == 7
