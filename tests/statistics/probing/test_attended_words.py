"""clark-2019, sections 4.2 and 4.3: words that heads pick, one word and one candidate at a time."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.antecedents import NONE
from analysis.measures.probing.word_attention import attended_antecedents, predicted_governors

Matrix = list[list[float]]


def slow_governors(attention: Matrix, sentences: list[int], *, is_causal: bool, upwards: bool):
    """Other word of the sentence with the largest weight; upwards, from dependent to governor."""
    governors = []
    for word in range(len(attention)):
        best, place = float("-inf"), NONE
        for other in range(len(attention)):
            query, key = (word, other) if upwards else (other, word)
            is_hidden = is_causal and key > query
            if other == word or sentences[other] != sentences[word] or is_hidden:
                continue
            if attention[query][key] > best:
                best, place = attention[query][key], other
        governors.append(place)
    return governors


def slow_antecedents(attention: Matrix, heads: list[int]) -> list[int]:
    """Earlier head word with most attention, for every mention; −1 if there is none."""
    antecedents = []
    for mention in heads:
        best, most = NONE, 0.0
        for word in range(mention):
            if word in heads and (best == NONE or attention[mention][word] > most):
                best, most = word, attention[mention][word]
        antecedents.append(best)
    return antecedents


def _both(attention: Matrix, sentences: list[int], *, is_causal: bool) -> list[list[int]]:
    return [
        slow_governors(attention, sentences, is_causal=is_causal, upwards=upwards)
        for upwards in (True, False)
    ]


@pytest.mark.parametrize("is_causal", [False, True])
def test_random_attention_in_many_sentences_is_that_of_the_twin(is_causal):
    draw = np.random.default_rng(0)
    for n in range(1, 12):
        attention = torch.from_numpy(draw.integers(0, 4, (3, n, n)) / 4)  # full of equal weights
        sentences = np.sort(draw.integers(0, 3, n))
        picked = predicted_governors(attention, torch.from_numpy(sentences), is_causal=is_causal)
        for head, matrix in enumerate(attention.tolist()):
            expected = _both(matrix, sentences.tolist(), is_causal=is_causal)
            assert [words[head].tolist() for words in picked] == expected


@given(heads=st.lists(st.integers(0, 11), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_antecedents_of_random_attention_are_those_of_the_twin(heads, seed):
    scores = torch.randn(3, 12, 12, generator=torch.Generator().manual_seed(seed)).double()
    attention = torch.softmax(scores, dim=-1)
    picked = attended_antecedents(attention, torch.tensor(heads))
    assert picked.tolist() == [slow_antecedents(matrix, heads) for matrix in attention.tolist()]


def test_the_first_of_equal_words_is_picked():
    attention = torch.full((2, 6, 6), 1 / 6)
    assert attended_antecedents(attention, torch.tensor([2, 3, 5])).tolist() == [[NONE, 2, 2]] * 2
