import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.position_spectrum import (
    SPREAD,
    amplitude_spectrum,
    frequencies,
    spread,
    wave_length,
)
from tests.reference.positions import amplitude_spectrum as reference


def test_spectra_of_states_follow_their_slow_twin(traced_alone):
    for trace in traced_alone:
        for layer in trace.layers:
            spectrum = amplitude_spectrum(layer.input)[0]
            for column, wave in enumerate(layer.input[0].mT.tolist()):
                expected = reference.spectrum(wave)
                assert spectrum[:, column].tolist() == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(st.integers(3, 40), st.integers(0, 20), st.floats(0.1, 9), st.floats(0, 6.3))
def test_a_pure_wave_has_one_line_at_its_frequency(n, k, height, phase):
    k %= (n - 1) // 2 + 1
    t = torch.arange(n, dtype=torch.float64)
    wave = height * torch.cos(2 * np.pi * k * t / n + phase)
    spectrum = amplitude_spectrum(wave[:, None])[:, 0]
    expected = torch.zeros(n // 2 + 1, dtype=torch.float64)
    expected[k] = height * n / 2 if k else abs(height * np.cos(phase)) * n
    torch.testing.assert_close(spectrum, expected, atol=1e-9, rtol=1e-9)


def test_frequencies_are_cycles_per_512_positions():
    assert frequencies(512).tolist() == list(range(257))
    assert frequencies(64).tolist() == [8 * k for k in range(33)]
    assert frequencies(5).tolist() == [0, 102.4, 204.8]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 13])
def test_the_spread_over_columns_follows_its_slow_twin(columns):
    amplitudes = torch.rand(3, 7, columns, generator=torch.Generator().manual_seed(columns))
    spreads = spread(amplitudes)
    assert spreads.shape == (3, 7, len(SPREAD))
    for numbers, expected in zip(spreads.flatten(0, 1), amplitudes.flatten(0, 1), strict=True):
        assert numbers.tolist() == pytest.approx(reference.spread(expected.tolist()), rel=1e-6)


def test_measured_lengths_are_powers_of_two_from_16_on():
    lengths = (1, 15, 16, 17, 31, 32, 127, 128, 511, 512, 1000)
    measured = [wave_length(n) for n in lengths]
    assert measured == [0, 0, 16, 16, 16, 32, 64, 128, 256, 512, 512]
