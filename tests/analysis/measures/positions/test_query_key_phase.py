"""Amplitudes by phase and frequency, and rotations of known phase found again."""

import math

import numpy as np
import pytest
import torch

from analysis.measures.positions.position_spectrum import frequencies
from analysis.measures.positions.query_key_form import query_key_factors, query_key_rotation
from analysis.measures.positions.query_key_wave import (
    cross_covariance,
    phase_amplitudes,
    query_key_waves,
)
from tests.reference.positions import query_key_phase as reference
from tests.reference.positions.query_key_factors import dense
from tests.reference.positions.query_key_rotation import nearest


def test_both_sides_follow_the_slow_twin_and_have_one_amplitude(traced_alone):
    layer = traced_alone[0].layers[1]
    weights, inputs = layer.weights, layer.attention_input[0]
    parts = (weights.query_weight, weights.query_bias, weights.key_weight, weights.key_bias)
    matrices = [nearest(*factors[1:]) for factors in dense(*(part.numpy() for part in parts))]
    for rotation, matrix in zip(weights.query_key_rotation, matrices, strict=True):
        amplitudes = phase_amplitudes(inputs, rotation)
        waves = (rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors).numpy()
        for plane, vector in enumerate(waves.T):
            for k in range(amplitudes.shape[1]):
                query, key = reference.both_sides(inputs.numpy(), matrix, vector, k)
                assert query == pytest.approx(key, rel=1e-7, abs=1e-7)
                assert amplitudes[plane, k].item() == pytest.approx(query, rel=1e-7, abs=1e-7)


def test_all_planes_together_have_the_amplitude_of_the_span(traced_alone):
    """Unitary vectors share out the waves' energy, frequency by frequency."""
    for trace in traced_alone:
        for layer in trace.layers:
            inputs = layer.attention_input[0]
            for rotation in layer.weights.query_key_rotation:
                waves = inputs @ rotation.basis[:-1] + rotation.basis[-1]
                expected = torch.fft.rfft(waves, dim=0).abs().square().sum(dim=1)
                amplitudes = phase_amplitudes(inputs, rotation).square().sum(dim=0)
                torch.testing.assert_close(amplitudes, expected)


@pytest.mark.parametrize("shift", [-3, -1, 1, 2])
@pytest.mark.parametrize("cycles", [10, 50])
def test_keys_that_are_queries_shifted_by_some_tokens_give_phase_frequency_and_shift(cycles, shift):
    """Positions on a circle; W_K reads the wave `shift` tokens later than W_Q does."""
    turn = 2 * math.pi * cycles / 512
    t = torch.arange(512, dtype=torch.float64) * turn
    embedding = torch.stack([t.sin(), t.cos(), torch.zeros(512), torch.ones(512)], dim=1)
    cosine, sine = math.cos(turn * shift), math.sin(turn * shift)
    later = torch.tensor([[cosine, -sine], [sine, cosine]], dtype=torch.float64)
    query, key = torch.zeros(2, 1, 4, 2, dtype=torch.float64)
    query[0, :2] = torch.eye(2)
    key[0, :2] = later
    factors = query_key_factors(query, torch.zeros(1, 2).double(), key, torch.zeros(1, 2).double())
    rotation = query_key_rotation(factors)[0]

    expected = turn * shift
    np.testing.assert_allclose(rotation.phases, [-abs(expected), abs(expected)], atol=1e-9)
    amplitudes = phase_amplitudes(embedding, rotation)
    plane, k = divmod(int(amplitudes.argmax()), amplitudes.shape[1])
    assert k == cycles
    assert amplitudes[1 - plane].max() < 1e-9 * amplitudes[plane, k]
    phase, frequency = rotation.phases[plane], frequencies(512)[k]
    assert phase.item() == pytest.approx(expected)
    assert reference.shift_in_tokens(frequency, phase.item()) == pytest.approx(shift)

    queries, keys = query_key_waves(embedding, factors)
    weighted = (cross_covariance(queries, keys) * factors.values[:, None]).sum(dim=-1)[0]
    assert weighted.argmax() - 511 == -shift


def test_a_head_that_compares_nothing_has_every_frequency_and_no_plane():
    nothing = torch.zeros(2, 1, 4, 2, dtype=torch.float64)
    bias = torch.zeros(1, 2, dtype=torch.float64)
    rotation = query_key_rotation(query_key_factors(nothing[0], bias, nothing[1], bias))[0]
    for n_tokens in (8, 9):
        amplitudes = phase_amplitudes(torch.ones(n_tokens, 4, dtype=torch.float64), rotation)
        assert amplitudes.shape == (0, len(frequencies(n_tokens)))
