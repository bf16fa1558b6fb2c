from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.norms.attention_norm_histogram import (
    ATTENTION_BINS_PER_OCTAVE,
    NORM_BINS_PER_OCTAVE,
    bin_edges,
    bins,
    joint_histogram,
)
from analysis.measures.norms.head_token import value_norms
from precompute.passes.batch import Batch
from tests.reference.norms import attention_norm_histogram as reference

POSITIVE = st.floats(2.0**-100, 2.0**100, width=32)
PER_OCTAVE = st.sampled_from([4, ATTENTION_BINS_PER_OCTAVE, NORM_BINS_PER_OCTAVE])


def _bin(value: float, per_octave: int) -> int:
    return int(bins(torch.tensor([value], dtype=torch.float32), per_octave=per_octave)[0])


@given(POSITIVE, POSITIVE, PER_OCTAVE)
def test_bins_keep_order(first, second, per_octave):
    low, high = sorted((first, second))
    assert _bin(low, per_octave) <= _bin(high, per_octave)


@given(POSITIVE, PER_OCTAVE)
def test_a_value_lies_between_the_edges_of_its_bin(value, per_octave):
    number = _bin(value, per_octave)
    edges = bin_edges(torch.tensor([number, number + 1]), per_octave=per_octave).tolist()
    assert edges[0] <= value < edges[1]


@given(POSITIVE, PER_OCTAVE)
def test_an_octave_has_as_many_bins_as_it_says(value, per_octave):
    assert _bin(2 * value, per_octave) - _bin(value, per_octave) == per_octave


def test_zero_has_a_bin_of_its_own_below_every_weight_that_a_softmax_gives():
    assert _bin(0.0, ATTENTION_BINS_PER_OCTAVE) == 0 < _bin(2.0**-120, ATTENTION_BINS_PER_OCTAVE)


def _reference_bin(number: int, per_octave: int) -> tuple[int, int]:
    edge = bin_edges(torch.tensor([number]), per_octave=per_octave)
    return reference.bin_of(float(edge[0]), per_octave)


def _as_reference(rows: torch.Tensor, counts: torch.Tensor) -> Counter:
    return Counter(
        {
            (
                head,
                kind,
                _reference_bin(attention, ATTENTION_BINS_PER_OCTAVE),
                _reference_bin(norm, NORM_BINS_PER_OCTAVE),
            ): n
            for (head, kind, attention, norm), n in zip(rows.tolist(), counts.tolist(), strict=True)
        }
    )


def _token_types(sequences, longest: int) -> torch.Tensor:
    padded = torch.full((len(sequences), longest), 3)
    for row, sequence in enumerate(sequences):
        padded[row, : len(sequence)] = torch.from_numpy(sequence.token_types.astype("int64"))
    return padded


def test_a_padded_batch_is_counted_as_its_sequences_are_one_by_one(traced, traced_alone, sequences):
    layer = traced.layers[0]
    norms = value_norms(layer.values, layer.weights.output_factor).float()
    histogram = joint_histogram(
        layer.attention.float(),
        norms,
        _token_types(sequences, norms.shape[-1]),
        Batch(sequences, traced).is_pair[0],
    )
    expected: Counter = Counter()
    for row, sequence in enumerate(sequences):
        n = len(sequence)
        expected += reference.joint_counts(
            layer.attention[row, :, :n, :n].float().tolist(),
            norms[row, :, :n].tolist(),
            sequence.token_types.tolist(),
            causal=layer.weights.is_causal,
        )
    assert _as_reference(*histogram) == expected
    n_pairs = sum(int(layer.weights.pairs(len(text)).sum()) for text in sequences)
    assert sum(expected.values()) == norms.shape[1] * n_pairs
