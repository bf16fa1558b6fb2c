"""Predicted governors against a loop over words, and heads that hold the tree themselves."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.dependency_prediction import NOTHING, predicted_governors
from precompute.passes.batch import Batch
from tests.reference.probing import dependency_prediction as twin
from tests.tiny import text_families


def _predicted(attention, sentences, *, is_causal=False) -> tuple[list, list]:
    dependents, governors = predicted_governors(
        attention, torch.tensor(sentences), is_causal=is_causal
    )
    return dependents.tolist(), governors.tolist()


@text_families
def test_every_prediction_is_that_of_the_twin(tiny, annotated):
    is_causal = tiny.layers[0].is_causal
    for _, known, found in Batch(annotated, tiny.trace(annotated)).annotated:
        sentences = list(known.sentences)
        for attention in (found.mean, found.first):
            told = _predicted(attention, sentences, is_causal=is_causal)
            for head, matrix in enumerate(attention.tolist()):
                expected = twin.by_dependent(matrix, sentences, is_causal=is_causal)
                assert told[0][head] == expected
                expected = twin.by_governor(matrix, sentences, is_causal=is_causal)
                assert told[1][head] == expected


@pytest.mark.parametrize("is_causal", [False, True])
def test_random_attention_in_many_sentences_is_that_of_the_twin(is_causal):
    draw = np.random.default_rng(0)
    for n in range(1, 12):
        attention = torch.from_numpy(draw.integers(0, 4, (3, n, n)) / 4)  # full of equal weights
        sentences = np.sort(draw.integers(0, 3, n)).tolist()
        told = _predicted(attention, sentences, is_causal=is_causal)
        matrices = attention.tolist()
        for found, rule in zip(told, (twin.by_dependent, twin.by_governor), strict=True):
            assert found == [rule(each, sentences, is_causal=is_causal) for each in matrices]


def test_a_head_that_is_the_tree_finds_every_governor():
    governors = [1, 2, -1, 6, 5, 6, 2, 2]
    tree = torch.zeros(1, 8, 8)
    for word, governor in enumerate(governors):
        if governor >= 0:
            tree[0, word, governor] = 1
    looking_up, _ = _predicted(tree, [0] * 8)
    _, looked_down_on = _predicted(tree.mT, [0] * 8)
    for found in (looking_up[0], looked_down_on[0]):
        assert [f for f, g in zip(found, governors, strict=True) if g >= 0] == [
            g for g in governors if g >= 0
        ]


def test_the_first_of_equal_weights_wins_and_a_word_is_not_its_own_governor():
    even = torch.full((1, 4, 4), 0.25)
    assert _predicted(even, [0, 0, 0, 0]) == ([[1, 0, 0, 0]], [[1, 0, 0, 0]])
    assert _predicted(even, [0, 0, 1, 1]) == ([[1, 0, 3, 2]], [[1, 0, 3, 2]])


def test_a_word_without_candidates_gets_none():
    even = torch.full((1, 3, 3), 0.25)
    assert _predicted(even, [0, 1, 2]) == ([[NOTHING] * 3], [[NOTHING] * 3])
    one_way = _predicted(even, [0, 0, 0], is_causal=True)
    assert one_way == ([[NOTHING, 0, 0]], [[1, 2, NOTHING]])


def test_random_attention_is_right_as_often_as_counting_says():
    n_heads, sentences = 20_000, [0] * 3 + [1] * 6
    governors = torch.tensor([1, -1, 1, 4, 5, -1, 5, 6, 5])
    attention = torch.rand(n_heads, 9, 9, generator=torch.Generator().manual_seed(0))
    expected = torch.tensor([1 / (sentences.count(each) - 1) for each in sentences])
    expected[governors < 0] = 0  # a root is governed by no word
    deviation = (expected * (1 - expected) / n_heads).sqrt()
    for found in predicted_governors(attention, torch.tensor(sentences), is_causal=False):
        share = (found == governors).double().mean(dim=0)
        assert bool(((share - expected).abs() <= 5 * deviation).all())
