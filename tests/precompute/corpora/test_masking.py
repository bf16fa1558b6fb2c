"""Tokens drawn to be masked, and draws that depend on seed, purpose and sequence alone."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import CLS, SEP
from precompute.corpora.randomness import PURPOSES, generator
from precompute.corpora.sequence import NO_WORD, bare_sequence
from precompute.corpora.token_types import TokenTypes, masked
from tests.precompute.corpora.tiny import assert_same_sequences, bert_like, unhurried
from tests.refusals import refused

TOKENIZER = bert_like()
MASK = TOKENIZER.mask_token_id


def sequence_of(tokens, index=0):
    ids = np.array(TOKENIZER.convert_tokens_to_ids(list(tokens)), dtype=np.int32)
    known = {"index": index, "tokens": tuple(tokens), "token_types": TokenTypes(TOKENIZER)(ids)}
    return bare_sequence(ids, words=np.arange(len(ids), dtype=np.int32), **known)


def framed(tokens):
    return ["[CLS]", *tokens, "[SEP]"]


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
    sequence = sequence_of(framed(tokens), index)
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
    empty = sequence_of(framed([]))
    assert masked(empty, TOKENIZER, rate=rate, seed=seed) is empty


def test_a_draw_depends_on_the_seed_and_the_sequence_alone():
    def draw(seed, index):
        sequence = sequence_of(framed(["the"] * 50), index)
        return masked(sequence, TOKENIZER, rate=0.12, seed=seed).tokens

    assert draw(0, 7) == draw(0, 7)
    assert len({draw(seed, index) for seed in range(5) for index in range(5)}) == 25
    keys = list(product((0, 1, 2**32, 2**32 + 1), PURPOSES, range(4)))
    streams = [
        tuple(generator(seed, purpose=purpose, index=index).integers(2**62, size=4))
        for seed, purpose, index in keys * 2
    ]
    assert streams[: len(keys)] == streams[len(keys) :]
    assert len(set(streams)) == len(keys)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 12.0, math.nan])
def test_a_rate_out_of_range_is_refused(rate):
    message = refused(UserError, masked, sequence_of(["the"]), TOKENIZER, rate=rate, seed=0)
    assert message == f"--mask is {rate}; it must be at least 0 and less than 1."


def test_what_a_corpus_had_masked_itself_is_not_known():
    sequence = sequence_of(framed(["[MASK]", "cat"]))
    given_masked = replace(sequence, masked=sequence.ids == MASK)
    cat = int(sequence.ids[2])
    drawn = [masked(given_masked, TOKENIZER, rate=0.5, seed=seed).targets for seed in range(20)]
    kept = {tuple(row.tolist()) for row in drawn if row is not None}
    assert kept == {(-1, -1, cat, -1), (-1, -1, -1, -1)}  # its own mask, drawn, stands for nothing
