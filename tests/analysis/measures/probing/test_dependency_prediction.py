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
    for _, known, by_word in Batch(annotated, tiny.trace(annotated)).annotated:
        sentences = list(known.sentences)
        for attention in (by_word.mean, by_word.first):
            predicted = _predicted(attention, sentences, is_causal=is_causal)
            for head, matrix in enumerate(attention.tolist()):
                expected = twin.by_dependent(matrix, sentences, is_causal=is_causal)
                assert predicted[0][head] == expected
                expected = twin.by_governor(matrix, sentences, is_causal=is_causal)
                assert predicted[1][head] == expected


@pytest.mark.parametrize("is_causal", [False, True])
def test_random_attention_in_many_sentences_is_that_of_the_twin(is_causal):
    draw = np.random.default_rng(0)
    for n in range(1, 12):
        attention = torch.from_numpy(draw.integers(0, 4, (3, n, n)) / 4)  # full of equal weights
        sentences = np.sort(draw.integers(0, 3, n)).tolist()
        predicted = _predicted(attention, sentences, is_causal=is_causal)
        matrices = attention.tolist()
        for picked, rule in zip(predicted, (twin.by_dependent, twin.by_governor), strict=True):
            assert picked == [rule(matrix, sentences, is_causal=is_causal) for matrix in matrices]


def test_a_word_without_candidates_gets_none():
    even = torch.full((1, 3, 3), 0.25)
    assert _predicted(even, [0, 1, 2]) == ([[NOTHING] * 3], [[NOTHING] * 3])
    one_way = _predicted(even, [0, 0, 0], is_causal=True)
    assert one_way == ([[NOTHING, 0, 0]], [[1, 2, NOTHING]])
