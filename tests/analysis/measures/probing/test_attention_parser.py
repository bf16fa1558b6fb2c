"""Scores of governors from attention, against sums over heads written out pair by pair."""

import pytest

from analysis.measures.probing.attention_parser import (
    attention_scores,
    attention_words_scores,
    fresh_attention,
    fresh_attention_words,
)
from analysis.parser_sentence import ParserSentence
from tests.analysis.measures.probing.parser_cases import drawn, random_sentence
from tests.reference.probing import attention_parser as twin


def _maps(sentence: ParserSentence) -> list[twin.Matrix]:
    return sentence.attention.movedim(2, 0).tolist()


def _given(sentence: ParserSentence) -> list[list[twin.Vector]]:
    return [token.T.tolist() for token in (sentence.cls, sentence.sep)]


@pytest.mark.parametrize("n_words", [1, 2, 5])
def test_scores_of_attention_are_those_of_the_twin(n_words):
    sentence = random_sentence(n_words)
    parameters = drawn(fresh_attention(sentence, 2))
    scores = attention_scores(parameters, sentence)
    assert scores.shape == (n_words, n_words + 1, 2)
    for fit in range(2):
        weights = {name: value[..., fit].tolist() for name, value in parameters.items()}
        of_root = [weights["cls"], weights["sep"]]
        for word in range(n_words):
            for other in range(n_words):
                expected = twin.attention_score(
                    _maps(sentence),
                    weights["dependent"],
                    weights["governor"],
                    dependent=word,
                    governor=other,
                )
                assert scores[word, other, fit].item() == pytest.approx(expected)
            constant = parameters["root"][fit].item()
            expected = twin.root_score(_given(sentence), of_root, constant, word)
            assert scores[word, n_words, fit].item() == pytest.approx(expected)


@pytest.mark.parametrize("n_words", [1, 2, 5])
def test_scores_of_attention_and_words_are_those_of_the_twin(n_words):
    sentence = random_sentence(n_words)
    parameters = drawn(fresh_attention_words(sentence, 2))
    scores = attention_words_scores(parameters, sentence)
    vectors = sentence.vectors.tolist()
    heads = sentence.attention.shape[2]

    def weights(name: str, fit: int, word: int) -> twin.Vector:
        columns = parameters[name][..., fit].movedim(1, 0).tolist()
        return [twin.dot(vectors[word], columns[head]) for head in range(heads)]

    for fit in range(2):
        for word in range(n_words):
            for other in range(n_words):
                forward, back = (
                    [
                        a + b
                        for a, b in zip(
                            weights(f"{name}_by_dependent", fit, word),
                            weights(f"{name}_by_governor", fit, other),
                            strict=True,
                        )
                    ]
                    for name in ("dependent", "governor")
                )
                expected = twin.attention_score(
                    _maps(sentence), forward, back, dependent=word, governor=other
                )
                assert scores[word, other, fit].item() == pytest.approx(expected)
            of_root = [weights(name, fit, word) for name in ("cls", "sep")]
            constant = twin.dot(vectors[word], parameters["root"][:, fit].tolist())
            expected = twin.root_score(_given(sentence), of_root, constant, word)
            assert scores[word, n_words, fit].item() == pytest.approx(expected)
