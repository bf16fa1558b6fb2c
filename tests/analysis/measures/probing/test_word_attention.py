"""Attention between words, against loops over pieces, and laws of any tokenizer."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.word_attention import word_attention
from analysis.token_types import CLS, SEP
from precompute.passes.batch import Batch
from tests.reference.probing import word_attention as twin
from tests.tiny import text_families


@pytest.fixture(scope="module")
def batch(tiny, annotated) -> Batch:
    return Batch(annotated, tiny.trace(annotated))


@text_families
def test_words_are_those_of_the_twin(batch):
    assert len(batch.annotated) == len(batch.sequences)
    for row, (_, _, by_word) in enumerate(batch.annotated):
        sequence = batch.sequences[row]
        spans = [(int(start), int(end)) for start, end in sequence.word_spans]
        n = len(sequence)
        every_head = torch.cat([layer.attention[row, :, :n, :n] for layer in batch.trace.layers])
        for head, attention in enumerate(every_head.tolist()):
            assert np.allclose(by_word.mean[head], twin.by_mean(attention, spans), atol=1e-12)
            assert np.allclose(by_word.first[head], twin.by_first(attention, spans), atol=1e-12)
            for special, kind in ((by_word.cls, CLS), (by_word.sep, SEP)):
                of_kind = (sequence.token_types == kind).tolist()
                expected = twin.to_kind(attention, spans, of_kind)
                assert np.allclose(special[head], expected, atol=1e-12)


@text_families
def test_words_and_special_tokens_share_all_attention(batch, attention_error):
    for _, _, by_word in batch.annotated:
        total = by_word.mean.sum(dim=-1) + by_word.cls + by_word.sep
        special = {CLS, SEP} & set(np.concatenate([s.token_types for s in batch.sequences]))
        if special:  # a tokenizer whose one special token is both has neither type
            assert torch.allclose(total, torch.ones_like(total))
        else:
            assert bool((total <= 1 + 10 * attention_error).all())


def test_words_of_one_piece_keep_their_attention():
    attention = torch.softmax(torch.randn(3, 5, 5, dtype=torch.float64), dim=-1)
    spans = torch.stack([torch.arange(1, 4), torch.arange(2, 5)], dim=1)
    nowhere = torch.zeros(5, dtype=torch.bool)
    by_word = word_attention(attention, spans, nowhere, nowhere)
    assert torch.equal(by_word.first, attention[:, 1:4, 1:4])
    assert torch.allclose(by_word.mean, attention[:, 1:4, 1:4])
