"""Peaks exceed their neighbours; falling or noisy spectra have none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.positions.spectra.peaks import peaks, with_period

FREQUENCIES = np.arange(257.0)


def spectrum(amplitude: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"frequency": FREQUENCIES, "mean": amplitude})


def bumps(*at: tuple[float, float]) -> np.ndarray:
    """A level of 1 with bumps of given frequency and height, a few cycles wide."""
    heights = (height * np.exp(-(((FREQUENCIES - place) / 2) ** 2)) for place, height in at)
    return 1 + sum(heights, np.zeros_like(FREQUENCIES))


def test_the_amplitude_spectrum_of_waves_peaks_at_their_frequencies():
    time = np.arange(512)
    rng = np.random.default_rng(0)
    waves = np.stack(
        [np.sin(2 * np.pi * f * time / 512 + rng.uniform(0, 6)) for f in (20, 50)] * 8, axis=1
    )
    noisy = waves + 0.2 * rng.standard_normal(waves.shape)
    frequencies = peaks(spectrum(np.abs(np.fft.rfft(noisy, axis=0)).mean(axis=1)))
    assert sorted(frequencies) == [20, 50]


RISING = bumps((50, 10))


@pytest.mark.parametrize(
    ("amplitude", "expected"),
    [
        (bumps((20, 4), (50, 40), (100, 8), (180, 6)), [50, 100, 180]),  # the clearest three
        (bumps((50, 1.9)), []),  # less than three times its valley
        (bumps((50, 2.5)), [50]),
        (bumps((50, 30), (60, 40)), [60]),  # within a third of an octave
        (bumps((40, 30), (60, 40)), [60, 40]),
        (np.where(FREQUENCIES, RISING, 1e6), [50]),  # frequency 0 is no wave
        (1000 * np.exp(-FREQUENCIES / 10), []),
        (np.zeros(257), []),
        (np.ones(257), []),
    ],
)
def test_peaks_are_clear_apart_and_few(amplitude, expected):
    assert peaks(spectrum(amplitude)) == expected


def test_nothing_has_no_peak():
    assert peaks(pd.DataFrame({"frequency": [], "mean": []})) == []


@given(scale=st.floats(1e-6, 1e6), at=st.integers(8, 240))
def test_peaks_do_not_depend_on_the_unit_of_amplitudes(scale, at):
    amplitude = bumps((at, 10))
    assert peaks(spectrum(scale * amplitude)) == peaks(spectrum(amplitude)) == [at]


@pytest.mark.parametrize(("frequency", "tokens"), [(1, 512), (64, 8), (256, 2)])
def test_a_period_is_what_512_tokens_share_out(frequency, tokens):
    waves = with_period(pd.DataFrame({"frequency": [0.0, frequency]}))
    assert waves["period"].tolist() == [tokens]
