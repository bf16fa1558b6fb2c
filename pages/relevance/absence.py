"""Reason why no sequence of a file can have relevance."""

from math import isqrt

from analysis.relevance_rules import MOST_BYTES
from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.relevance import relevance_map, relevance_summary
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_BYTES_PER_WEIGHT = 4


def too_long(inquiry: Inquiry) -> str:
    """Say that every sequence is too long to be carried back through; empty if one is not."""
    store = inquiry.store
    if store.holds(relevance_map.TABLE) or store.holds(relevance_summary.PER_SEQUENCE):
        return ""
    n_heads = int(store.run["n_layers"]) * int(store.run["n_heads"])
    most = isqrt(MOST_BYTES // (n_heads * _BYTES_PER_WEIGHT))
    shortest = int(inquiry.ask(sequence_lengths)["n_tokens"].min())
    if shortest <= most:
        return ""
    return say(
        "relevance.too_long",
        corpus=plain(store.run["corpus"]),
        limit=MOST_BYTES // 2**20,
        most=count(most),
        shortest=count(shortest),
    )
