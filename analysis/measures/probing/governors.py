"""Scoring of predicted governors: the words of each relation, and correct predictions."""

import numpy as np
from jaxtyping import Bool, Int

ALL, ALL_WORDS = "all", "all_words"
UNSCORED = ("root", "punct")
"""Relations without a row of their own; their words are left out of `ALL`."""
POSSESSOR = "poss"
POSSESSIVES = ("'s", "s'")


def base_of(relation: str) -> str:
    """A relation without its subtype: nmod of nmod:poss.

    Source:
        clark-2019, section 4.2.
    """
    return relation.partition(":")[0]


def words_by_relation(relations: list[str]) -> dict[str, Bool[np.ndarray, " word"]]:
    """Masks of the words of each relation: `ALL` and `ALL_WORDS`, every relation, every subtype.

    A relation includes its subtypes. `UNSCORED` relations have no row of their own, nor have labels
    that are named like one of the two sums.

    Source:
        clark-2019, section 4.2.

    Differs:
        The released code's "all" includes `punct` and `root`, which the paper leaves out: that is
        `ALL_WORDS`.
    """
    labels = np.array(relations, dtype=object)
    bases = np.array([base_of(relation) for relation in relations], dtype=object)
    masks = {ALL: ~np.isin(bases, UNSCORED), ALL_WORDS: np.ones(len(labels), dtype=bool)}
    for base in sorted(set(bases) - {ALL, ALL_WORDS, *UNSCORED}):
        masks[base] = bases == base
        for label in sorted(set(labels[masks[base]]) - {base}):
            masks[label] = labels == label
    return masks


def deciding_words(
    relations: list[str], forms: list[str], sentences: Int[np.ndarray, " word"]
) -> Int[np.ndarray, " word"]:
    """The word whose prediction decides for each word, in general itself.

    For a possessor (`poss`) that a possessive ending of its sentence follows, it is the ending.

    Args:
        sentences: sentence number of each word.

    Source:
        clark-2019, section 4.2: heads attend to the ending, which stands for the possessor.
    """
    place = np.arange(len(relations))
    for word in range(len(relations) - 1):
        ends = forms[word + 1] in POSSESSIVES and sentences[word] == sentences[word + 1]
        place[word] += relations[word] == POSSESSOR and ends
    return place


def is_right(
    predicted: Int[np.ndarray, "cell word"],
    governors: Int[np.ndarray, " word"],
    deciding: Int[np.ndarray, " word"],
) -> Bool[np.ndarray, "cell word"]:
    """True where the predicted governor is the treebank's; False for a negative governor, the root.

    Source:
        clark-2019, section 4.2.
    """
    return (predicted[:, deciding] == governors) & (governors >= 0)


def by_offset(
    sentences: Int[np.ndarray, " word"], places: Int[np.ndarray, " word"], offset: int
) -> Int[np.ndarray, " word"]:
    """The word at an offset in the same sentence; −1 beyond its ends.

    Args:
        sentences: sentence number of each word; words of a sentence are contiguous.
        places: the place of each word in its sequence.

    Source:
        clark-2019, section 4.2: the baseline of fixed offsets.

    Differs:
        The released code clips offsets beyond an end to that end.
    """
    target = np.arange(len(places)) + offset
    there = (target >= 0) & (target < len(places))
    there[there] = sentences[target[there]] == sentences[there]
    return np.where(there, places + offset, -1)
