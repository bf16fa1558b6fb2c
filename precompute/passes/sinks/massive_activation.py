"""Means over sequences of how far the largest coordinate stands out, with intervals."""

from analysis.sinks import ACTIVATIONS, MASSIVE, MASSIVE_RATIO
from analysis.statistics.means import Means
from analysis.statistics.sinks.massive_activation import TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_massive_activation",)
_OF_SEQUENCES = f"""
    unpivot (
        select seq, depth, place, largest::double as largest, ratio,
            (largest > {MASSIVE} and ratio > {MASSIVE_RATIO})::int::double as massive
        from sequence_massive_activation
    )
    on {", ".join(ACTIVATIONS)} into name quantity value mean
"""
fit = mean_over_sequences(TABLE, Means(_OF_SEQUENCES, ["depth", "place", "quantity"]))
"""One row per depth, place and quantity that some sequence has."""
