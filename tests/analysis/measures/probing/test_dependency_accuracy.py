"""Accuracy of predicted governors by relation, against a loop over words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.dependency_accuracy import (
    ALL,
    ALL_WORDS,
    base_of,
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from tests.reference.probing import dependency_accuracy as twin

RELATIONS = ("root", "punct", "poss", "nsubj", "nsubj:outer", "nmod", "nmod:poss", "all", "")
LABELS = st.sampled_from(RELATIONS)
FORMS = st.sampled_from(("John", "'s", "s'", "book"))
TEXTS = st.lists(st.tuples(FORMS, LABELS, st.integers(-1, 9), st.integers(0, 2)), max_size=10)
PREDICTED = st.lists(st.integers(-1, 9), min_size=10, max_size=10)


def _columns(words: list[twin.Word]) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    forms, relations = ([word[0] for word in words], [word[1] for word in words])
    governors, sentences = ([word[2] for word in words], [word[3] for word in words])
    return forms, relations, np.array(governors, dtype=int), np.array(sentences, dtype=int)


@given(TEXTS, PREDICTED)
def test_scores_are_those_of_the_twin(words, predicted):
    words = sorted(words, key=lambda word: word[3])
    forms, relations, governors, sentences = _columns(words)
    deciding = deciding_words(relations, forms, sentences)
    right = is_right(np.array([predicted[: len(words)]], dtype=int), governors, deciding)[0]
    for asked, members in words_by_relation(relations).items():
        expected = twin.score(words, predicted, asked)
        assert (members.sum(), (right & members).sum()) == expected


@given(TEXTS, st.integers(-3, 3))
def test_offsets_end_with_the_sentence(words, offset):
    words = sorted(words, key=lambda word: word[3])
    *_, sentences = _columns(words)
    predicted = by_offset(sentences, np.arange(len(words)), offset)
    assert predicted.tolist() == twin.by_offset(words, offset)


def test_relations_count_their_subtypes_and_have_them_beside():
    relations = ["nmod", "nmod:poss", "root", "punct", "nsubj:outer", "all"]
    by_relation = {name: members.tolist() for name, members in words_by_relation(relations).items()}
    assert set(by_relation) == {ALL, ALL_WORDS, "nmod", "nmod:poss", "nsubj", "nsubj:outer"}
    assert by_relation["nmod"] == [True, True, False, False, False, False]
    assert by_relation["nmod:poss"] == [False, True, False, False, False, False]
    assert by_relation[ALL] == [True, True, False, False, True, True]
    assert all(by_relation[ALL_WORDS])
    assert [base_of(relation) for relation in relations] == [
        "nmod", "nmod", "root", "punct", "nsubj", "all",
    ]  # fmt: skip


def test_a_possessor_is_judged_by_its_ending():
    forms = ["Ann", "'s", "dog", "Ann", "Bo", "'s"]
    relations = ["poss", "possessive", "nsubj", "poss", "poss", "nmod:poss"]
    sentences = np.array([0, 0, 0, 1, 1, 2])
    assert deciding_words(relations, forms, sentences).tolist() == [1, 1, 2, 3, 4, 5]
    predicted = np.array([[1, 2, 0, 4, 3, 0]])
    governors = np.array([2, 0, -1, 4, 3, -1])
    right = is_right(predicted, governors, deciding_words(relations, forms, sentences))
    assert right.tolist() == [[True, False, False, True, True, False]]


def test_a_root_is_never_right_even_where_nothing_is_predicted():
    assert not is_right(np.array([[-1]]), np.array([-1]), np.array([0])).any()
