"""Counts of pairs by weight and norm, one by one, in bins found by arithmetic, not by bits."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis import head_slices
from analysis.measures.norms.joint_histogram import (
    ATTENTION_BINS_PER_OCTAVE,
    NORM_BINS_PER_OCTAVE,
    bin_edges,
    bins,
)
from analysis.statistics import norms
from analysis.token_types import TOKEN_TYPES
from tests.tracing import layers_of, rows_of_table

POSITIVE = st.floats(2.0**-100, 2.0**100, width=32)
PER_OCTAVE = st.sampled_from([ATTENTION_BINS_PER_OCTAVE, NORM_BINS_PER_OCTAVE])


def slow_bin(value: float, per_octave: int) -> tuple[int, int]:
    """Return the octave of a positive value, and the part of that octave."""
    octave = math.floor(math.log2(value))
    return octave, math.floor((value / 2**octave - 1) * per_octave)


def bin_of(value: float, per_octave: int) -> int:
    return int(bins(torch.tensor([value], dtype=torch.float32), per_octave=per_octave)[0])


@given(POSITIVE, POSITIVE, PER_OCTAVE)
def test_bins_keep_order_have_exact_edges_and_are_as_many_in_every_octave(one, other, per_octave):
    low, high = sorted((one, other))
    number = bin_of(low, per_octave)
    assert number <= bin_of(high, per_octave)
    edges = bin_edges(torch.tensor([number, number + 1]), per_octave=per_octave).tolist()
    assert edges[0] <= low < edges[1]
    assert bin_of(2 * low, per_octave) - number == per_octave
    assert bin_of(0.0, per_octave) == 0 < bin_of(2.0**-120, per_octave)


@pytest.mark.parametrize("at_once", [head_slices.MOST_WEIGHTS, 1])
def test_a_padded_batch_is_counted_pair_by_pair(tiny, sequences, at_once, monkeypatch):
    monkeypatch.setattr(head_slices, "MOST_WEIGHTS", at_once)  # all heads, or one after the other
    rows = rows_of_table(norms.ATTENTION_NORM_HISTOGRAM, tiny, sequences).to_pandas()
    found = Counter()
    for row in rows.itertuples():
        edges = [
            float(bin_edges(torch.tensor([number]), per_octave=per_octave)[0])
            for number, per_octave in ((row.attention_bin, 4), (row.norm_bin, 64))
        ]
        cell = (slow_bin(edges[0], 4), slow_bin(edges[1], 64))
        found[row.layer, row.head, row.token_type, *cell] += row.n
    expected: Counter = Counter()
    for layer in layers_of(tiny, sequences):
        for number, sequence in enumerate(sequences):
            kinds = [TOKEN_TYPES[kind] for kind in sequence.token_types]
            seen = layer.weights.pairs(len(sequence)).nonzero().tolist()
            weights = layer.attention[number].float().tolist()
            lengths = layer.value_norms[number].float().tolist()
            for head in range(len(weights)):
                for query, key in seen:
                    alpha, norm = weights[head][query][key], lengths[head][key]
                    cell = (slow_bin(alpha, 4), slow_bin(norm, 64))
                    expected[layer.weights.number, head + 1, kinds[key], *cell] += 1
    assert found == expected
