"""Training of parsers: losses and counts against loops, planted trees, and chance level."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.attention_parser import attention_scores, fresh_attention
from analysis.measures.probing.parser_training import (
    parser_loss,
    possible,
    right_branching,
    right_words,
    shuffled,
    train,
)
from tests.analysis.measures.probing.parser_cases import drawn, planted_sentence, random_sentence
from tests.reference.probing import parser_training as twin


@pytest.mark.parametrize("seed", range(5))
def test_loss_and_right_words_are_those_of_the_twin(seed):
    sentence = random_sentence(5, seed=seed)
    scores = attention_scores(drawn(fresh_attention(sentence, 2), seed=seed), sentence)
    scored = sentence.is_scored.tolist()
    losses, hits = [], []
    for fit in range(2):
        matrix, governors = scores[:, :, fit].tolist(), sentence.governors[:, fit].tolist()
        losses.append(twin.loss(matrix, governors, scored))
        hits.append(twin.right(matrix, governors, scored))
        only = torch.arange(2) == fit
        assert parser_loss(scores, sentence, only).item() == pytest.approx(losses[-1])
        assert right_words(lambda *_: scores, {}, sentence)[fit].item() == hits[-1]
    both = torch.ones(2, dtype=torch.bool)
    assert parser_loss(scores, sentence, both).item() == pytest.approx(sum(losses))


def test_no_word_governs_itself():
    scores = possible(torch.zeros(3, 4, 1))
    assert scores[:, :, 0].isinf().tolist() == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, False],
    ]


def test_a_word_that_would_govern_itself_teaches_nothing():
    sentence = random_sentence(3, fits=1)
    sentence.governors[:, 0] = torch.arange(3)
    start = fresh_attention(sentence, 1)
    start = {name: value.double() for name, value in start.items()}
    learnt = train(attention_scores, start, [sentence], learns=np.ones((1, 1), bool), seed=0)
    assert all(torch.equal(learnt[name], start[name]) for name in start)


def _held_out(sentences, learns) -> float:
    learnt = train(
        attention_scores, fresh_attention(sentences[0], 1), sentences, learns=learns, seed=0
    )
    held_out = [sentence for sentence, (seen,) in zip(sentences, learns, strict=True) if not seen]
    right = sum(int(right_words(attention_scores, learnt, sentence)) for sentence in held_out)
    return right / sum(len(sentence.is_scored) for sentence in held_out)


def test_trees_that_stand_in_a_head_are_learnt_and_found_in_other_sentences():
    draw = np.random.default_rng(0)
    sentences = [planted_sentence(draw) for _ in range(40)]
    learns = (np.arange(40) < 30)[:, None]
    assert _held_out(sentences, learns) > 0.99


def test_dealt_out_governors_teach_nothing_of_who_depends_on_whom():
    draw = np.random.default_rng(0)
    sentences = [planted_sentence(draw) for _ in range(40)]
    for place, sentence in enumerate(sentences):
        dealt = shuffled(sentence.governors[:, 0].numpy(), seed=0, sentence=place)
        sentence.governors[:, 0] = torch.from_numpy(dealt)
    assert _held_out(sentences, (np.arange(40) < 30)[:, None]) < 0.4


def test_a_parser_sees_only_what_it_may_learn_from():
    draw = np.random.default_rng(1)
    sentences = [planted_sentence(draw, fits=2) for _ in range(6)]
    learns = np.ones((6, 2), dtype=bool)
    learns[2:4, 1] = False
    start = fresh_attention(sentences[0], 2)
    first = train(attention_scores, start, sentences, learns=learns, seed=0)
    for hidden in (2, 3):
        n_words = len(sentences[hidden].is_scored)
        sentences[hidden].governors[:, 1] = torch.arange(n_words).flip(0)
    second = train(attention_scores, start, sentences, learns=learns, seed=0)
    assert all(torch.equal(first[name], second[name]) for name in start)


def test_right_branching_is_a_chain_to_the_root():
    assert right_branching(3).tolist() == [1, 2, 3]


def test_dealing_keeps_who_governs_and_depends_on_seed_and_sentence():
    governors = np.array([1, 2, 8, 6, 5, 6, 2, 2])
    dealt = shuffled(governors, seed=0, sentence=0)
    assert sorted(dealt) == sorted(governors)
    for seed in range(50):
        assert (shuffled(governors, seed=seed, sentence=0) != np.arange(8)).all()
    assert shuffled(np.array([1, 2]), seed=0, sentence=0).tolist() == [1, 2]
    assert (dealt == shuffled(governors, seed=0, sentence=0)).all()
    assert (dealt != shuffled(governors, seed=1, sentence=0)).any()
    assert (dealt != shuffled(governors, seed=0, sentence=1)).any()
