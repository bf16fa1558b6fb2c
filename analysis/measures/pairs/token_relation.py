"""Relation of every two tokens of a sequence, by position, word and segment."""

import numpy as np
from jaxtyping import Int, Int8, UInt8

from analysis.scopes import RELATIONS


def token_relations(
    ids: Int[np.ndarray, " token"],
    words: Int[np.ndarray, " token"],
    segments: UInt8[np.ndarray, " token"],
) -> Int8[np.ndarray, "query key"]:
    """Index in `RELATIONS` of every two tokens: the first that fits, so that shares add up to 1.

    special: one of them is a special token; same_word: the same token at two places; word_pieces:
    pieces of one word; adjacent: side by side; then same or other segment.

    Args:
        words: numbers of the words that tokens are pieces of; negative where there is none.

    Source:
        kobayashi-2024, section 5.2, which distinguishes these kinds by eye.
    """
    real = words >= 0
    place = np.arange(len(ids))
    fits = {
        "special": ~(real[:, None] & real),
        "same_word": ids[:, None] == ids,
        "word_pieces": words[:, None] == words,
        "adjacent": np.abs(place[:, None] - place) == 1,
        "same_segment": segments[:, None] == segments,
        "other_segment": np.ones((len(ids), len(ids)), dtype=bool),
    }
    return np.argmax([fits[name] for name in RELATIONS], axis=0).astype(np.int8)
