"""Reason why no sequence of a file can have relevance."""

from math import isqrt

from analysis.relevance_rules import MOST_BYTES
from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.relevance import relevance_map, relevance_summary
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_BYTES_PER_WEIGHT = 4


def too_long() -> str:
    """Say that every sequence is too long to be carried back through; empty if one is not."""
    store = open_store()
    if store.holds(relevance_map.TABLE) or store.holds(relevance_summary.PER_SEQUENCE):
        return ""
    n_heads = int(store.run["n_layers"]) * int(store.run["n_heads"])
    most = isqrt(MOST_BYTES // (n_heads * _BYTES_PER_WEIGHT))
    shortest = int(ask(sequence_lengths)["n_tokens"].min())
    if shortest <= most:
        return ""
    return say(
        "relevance.too_long",
        corpus=plain(store.run["corpus"]),
        limit=MOST_BYTES // 2**20,
        most=count(most),
        shortest=count(shortest),
    )
