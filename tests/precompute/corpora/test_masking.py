import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import UnfitModel, UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import CLS, SEP
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.corpora.token_types import TokenTypes, masked
from tests.precompute.corpora.tiny import assert_same_sequences, bert_like, gpt2_like, unhurried
from tests.refusals import refused

TOKENIZER = bert_like()
MASK = TOKENIZER.mask_token_id


def sequence_of(tokens, index=0):
    ids = np.array(TOKENIZER.convert_tokens_to_ids(list(tokens)), dtype=np.int32)
    segments = np.zeros(len(ids), dtype=np.uint8)
    return Sequence(
        index=index,
        ids=ids,
        segments=segments,
        token_types=TokenTypes(TOKENIZER)(ids),
        words=np.arange(len(ids), dtype=np.int32),
        masked=np.zeros(len(ids), dtype=bool),
        tokens=tuple(tokens),
        text="t",
        place="f line 1",
    )


def framed(tokens):
    return ["[CLS]", *tokens, "[SEP]"]


plain = st.lists(st.sampled_from(["the", "cat", ",", ".", "[UNK]"]), min_size=1, max_size=60)
rates = st.floats(0, 1, exclude_max=True)


@unhurried(50)
@given(tokens=plain, rate=rates.filter(bool), seed=st.integers(0, 9), index=st.integers(0, 9))
def test_as_many_tokens_are_masked_as_the_papers_say(tokens, rate, seed, index):
    sequence = sequence_of(framed(tokens), index)
    result = masked(sequence, TOKENIZER, rate=rate, seed=seed)
    changed = result.ids != sequence.ids
    assert changed.sum() == max(1, math.floor(rate * len(tokens)))
    assert (result.ids[changed] == MASK).all()
    assert (result.masked == changed).all()
    assert_same_sequences((result,), (sequence_of(result.tokens, index),))
    assert masked(sequence, TOKENIZER, rate=0.0, seed=seed) is sequence
    assert ((result.words == NO_WORD) == changed).all()
    assert not changed[np.isin(sequence.token_types, (CLS, SEP))].any()


def test_draw_depends_on_the_seed_and_the_sequence_alone():
    def draw(seed, index):
        sequence = sequence_of(framed(["the"] * 50), index)
        return masked(sequence, TOKENIZER, rate=0.12, seed=seed).tokens

    assert draw(0, 7) == draw(0, 7)
    assert len({draw(seed, index) for seed in range(5) for index in range(5)}) == 25


def test_every_token_is_masked_as_often_as_any_other():
    sequence = sequence_of(framed(["the"] * 10))
    results = [
        masked(replace(sequence, index=index), TOKENIZER, rate=0.3, seed=0) for index in range(2000)
    ]
    often = np.sum([result.ids == MASK for result in results], axis=0)
    assert often[[0, -1]].tolist() == [0, 0]
    assert abs(often[1:-1] - 600).max() < 5 * math.sqrt(2000 * 0.3 * 0.7)


def test_sequence_without_a_word_stays_as_it_is():
    sequence = sequence_of(framed([]))
    assert masked(sequence, TOKENIZER, rate=0.5, seed=0) is sequence


@pytest.mark.parametrize("rate", [-0.1, 1.0, 12.0, math.nan])
def test_rate_out_of_range_is_refused(rate):
    message = refused(UserError, masked, sequence_of(["the"]), TOKENIZER, rate=rate, seed=0)
    assert message == f"--mask is {rate}; it must be at least 0 and less than 1."


def test_tokenizer_without_a_mask_token_is_refused():
    assert refused(UnfitModel, masked, sequence_of(["the"]), gpt2_like(), rate=0.12, seed=0) == (
        "The model's tokenizer has no mask token, so --mask 0.12 cannot be done: use --mask 0 or a "
        "masked language model."
    )


@unhurried(50)
@given(tokens=plain, rate=rates.filter(bool), seed=st.integers(0, 9))
def test_what_stood_behind_the_mask_is_kept(tokens, rate, seed):
    sequence = sequence_of(framed(tokens))
    result = masked(sequence, TOKENIZER, rate=rate, seed=seed)
    assert result.targets is not None
    assert ((result.targets == NO_TARGET) == ~result.masked).all()
    assert (np.where(result.masked, result.targets, result.ids) == sequence.ids).all()
    assert sequence.targets is None


def test_what_a_corpus_had_masked_itself_is_not_known():
    sequence = sequence_of(framed(["[MASK]", "cat"]))
    given_masked = replace(sequence, masked=sequence.ids == MASK)
    cat = int(sequence.ids[2])
    drawn = [masked(given_masked, TOKENIZER, rate=0.5, seed=seed).targets for seed in range(20)]
    kept = {tuple(row.tolist()) for row in drawn if row is not None}
    assert kept == {(-1, -1, cat, -1), (-1, -1, -1, -1)}  # its own mask, drawn, stands for nothing
