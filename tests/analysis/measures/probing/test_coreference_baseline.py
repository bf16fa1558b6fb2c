"""Rules for antecedents, against a walk back through the text and cases by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.probing.coreference_baseline import (
    agreement,
    attributes,
    head_match,
    nearest,
    sieve,
)
from tests.reference.probing import coreference_baseline as twin

FEATURES = (
    "",
    "Number=Sing",
    "Number=Plur",
    "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "Gender=Fem,Masc|Number=Sing|Person=3|PronType=Prs",
    "Number=Sing|Person=1|PronType=Prs",
    "Number=Sing|Number[psor]=Plur|Person[psor]=1|Poss=Yes|PronType=Prs",
    "Number=Plur|Person=1|Tense=Past|VerbForm=Fin",
    "PronType=Dem",
)
MENTIONS = st.lists(
    st.tuples(
        st.integers(0, 14),
        st.sampled_from(["the cat", "a cat", "it"]),
        st.sampled_from(["cat", "it"]),
        st.sampled_from(FEATURES),
    ),
    min_size=1,
    max_size=8,
)


@given(mentions=MENTIONS)
def test_rules_pick_what_the_twin_picks(mentions):
    heads, texts, head_texts, features = map(list, zip(*mentions, strict=True))
    places = np.array(heads)
    assert nearest(places).tolist() == twin.nearest(heads)
    assert head_match(places, head_texts).tolist() == twin.head_match(heads, head_texts)
    picked = sieve(places, texts, head_texts, agreement(features))
    assert picked.tolist() == twin.sieve(heads, texts, head_texts, features)


@given(features=st.lists(st.sampled_from(FEATURES), min_size=1, max_size=9))
def test_agreement_is_mutual_and_holds_of_anything_with_itself(features):
    agree = agreement(features)
    assert (agree == agree.T).all()
    assert agree.diagonal().all()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Number=Sing", "Number=Plur", False),
        ("Number=Sing", "", True),
        ("Number=Sing", "Number=Sing|Person=1|PronType=Prs", False),
        ("Gender=Masc|PronType=Prs", "Gender=Fem|PronType=Prs", False),
        ("Gender=Com,Masc|PronType=Prs", "Gender=Masc|PronType=Prs", True),
        ("Number=Sing|Number[psor]=Plur|PronType=Prs", "Number=Plur", True),
        ("Number=Plur|VerbForm=Fin", "Number=Sing", True),
    ],
)
def test_what_agrees_in_number_gender_and_person(one, other, expected):
    assert agreement([one, other])[0, 1] == expected


def test_each_sieve_lets_pass_what_the_stricter_ones_did_not_catch():
    texts = ["the cat", "a dog", "they", "the dog", "the cat", "them"]
    head_texts = ["cat", "dog", "they", "dog", "cat", "them"]
    plural = "Number=Plur|Person=3|PronType=Prs"
    features = ["Number=Sing", "Number=Sing", plural, "Number=Sing", "Number=Sing", plural]
    heads = np.array([1, 4, 6, 9, 12, 14])
    picked = sieve(heads, texts, head_texts, agreement(features))
    # nothing before; nearest, which agrees; nearest, as none agrees; head; string; agreement
    assert picked.tolist() == [-1, 1, 4, 4, 1, 6]
    assert nearest(heads).tolist() == [-1, 1, 4, 6, 9, 12]
    assert head_match(heads, head_texts).tolist() == [-1, -1, -1, 4, 1, -1]


@pytest.mark.parametrize(
    ("features", "person"),
    [
        ("Number=Sing", {"3"}),
        ("PronType=Dem", set()),
        ("Person=1|PronType=Prs", {"1"}),
        ("Tense=Past|VerbForm=Fin", set()),
    ],
)
def test_nouns_are_of_the_third_person_and_pronouns_of_what_is_written(features, person):
    *_, found = attributes(features)
    assert found == person
