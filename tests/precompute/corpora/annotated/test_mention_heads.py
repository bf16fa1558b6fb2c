"""Heads and kinds of mentions by rule."""

import pytest

from precompute.corpora.annotated.mentions import (
    head_by_tag,
    head_by_tree,
    head_by_word,
    kind_by_tag,
    kind_by_word,
)

BY_TAG = {
    "the/DT old/JJ cat/NN": "cat",
    "the/DT cat/NN of/IN my/PRP$ aunt/NN": "cat",
    "Ann/NNP Lee/NNP ,/, who/WP sang/VBD": "Lee",
    "Ann/NNP and/CC Bob/NNP": "Ann",
    "my/PRP$ aunt/NN 's/POS": "aunt",
    "the/DT one/NN who/WP sings/VBZ": "one",
    "the/DT very/RB old/JJ": "old",
    "ADP/ADP": "ADP",
    "der/DET Hund/NOUN von/ADP Ann/PROPN": "Hund",
    "she/PRP": "she",
}
BY_WORD = {
    "the old cat": "cat",
    "the cat of my aunt": "cat",
    "Ann Lee , who sang": "Lee",
    "Ann and Bob": "Ann",
    "my aunt 's": "aunt",
    "my aunt 's cat": "cat",
    "well - known cats": "cats",
    "of": "of",
    "her": "her",
    "その 猫": "猫",
}


@pytest.mark.parametrize("mention", [*BY_TAG, *BY_WORD])
def test_the_head_is_the_last_noun_or_word_before_what_follows_the_core(mention):
    if mention in BY_TAG:
        pairs = [word.rsplit("/", 1) for word in f"in/IN {mention} of/IN".split()]
        words, tags = zip(*pairs, strict=True)
        assert words[head_by_tag(1, len(words) - 2, tags)] == BY_TAG[mention]
    else:
        words = f"in {mention} of".split()
        assert words[head_by_word(1, len(words) - 2, words)] == BY_WORD[mention]


def test_in_a_tree_it_is_the_word_that_hangs_outside():
    governors = (1, 4, 1, 5, -1, 4)
    assert head_by_tree(0, 2, governors) == 1
    assert head_by_tree(0, 3, governors, preferred=[0, 3, 1]) == 3
    assert head_by_tree(3, 5, governors) == 4


def test_kinds():
    kinds = {tag: kind_by_tag(tag) for tag in ("PRP", "PRON", "NNP", "PROPN", "NN", "")}
    assert list(kinds.values()) == ["pronoun"] * 2 + ["proper"] * 2 + ["nominal"] * 2
    assert kind_by_word("She", alone=True, begins_sentence=True) == "pronoun"
    assert kind_by_word("that", alone=False, begins_sentence=False) == "nominal"
    assert kind_by_word("Ann", alone=True, begins_sentence=False) == "proper"
    assert kind_by_word("Ann", alone=True, begins_sentence=True) == "nominal"
