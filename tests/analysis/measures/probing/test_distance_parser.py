"""Scores of governors from distances and words, against the network written out pair by pair."""

import pytest
import torch

from analysis.measures.probing.distance_parser import (
    HIDDEN,
    distance_features,
    distances_words_scores,
    fresh_distances_words,
)
from tests.analysis.measures.probing.parser_cases import drawn, random_sentence
from tests.reference.probing import distance_parser as twin


@pytest.mark.parametrize("n_words", [1, 2, 6])
def test_features_are_those_of_the_twin(n_words):
    features = distance_features(n_words).tolist()
    for word in range(n_words):
        for candidate in range(n_words + 1):
            expected = twin.features(n_words, word, candidate)
            assert features[word][candidate] == pytest.approx(expected)


def test_scores_are_those_of_the_twin():
    sentence = random_sentence(4)
    parameters = drawn(fresh_distances_words(sentence, [0, 1]))
    parameters["distance"] = parameters["distance"].float()
    scores = distances_words_scores(parameters, sentence)
    vectors = sentence.vectors.tolist()
    for fit in range(2):
        matrix = {name: value[..., fit].tolist() for name, value in parameters.items()}
        governor = [twin.times(vector, matrix["governor"]) for vector in vectors]
        governor.append([0.0] * len(matrix["output"]))
        for word in range(4):
            dependent = twin.times(vectors[word], matrix["dependent"])
            for other in range(5):
                distance = twin.times(twin.features(4, word, other), matrix["distance"])
                expected = twin.score(dependent, governor[other], distance, matrix["output"])
                assert scores[word, other, fit].item() == pytest.approx(expected, rel=1e-4)


def test_every_seed_starts_by_itself():
    sentence = random_sentence(3)
    both, alone = (fresh_distances_words(sentence, seeds) for seeds in ([3, 4], [4]))
    for name, value in both.items():
        assert torch.equal(value[..., 1:], alone[name])
        assert not torch.equal(value[..., 0], value[..., 1])


def test_sums_of_many_inputs_start_as_small_as_those_of_few():
    start = fresh_distances_words(random_sentence(3, values=400), [0])
    n_inputs = {"dependent": 400, "governor": 400, "output": HIDDEN}
    for name, n in n_inputs.items():
        assert start[name].std().item() * n**0.5 == pytest.approx(1, rel=0.25)
