"""yamamoto-2023, equation 8: every Fourier coefficient summed term by term."""

import cmath

import numpy as np


def amplitude(wave: list[float], k: int) -> float:
    """|Σ_t wave(t) e^(−2πikt/T)|."""
    n = len(wave)
    terms = (value * cmath.exp(-2j * cmath.pi * k * t / n) for t, value in enumerate(wave))
    return abs(sum(terms))


def spectrum(wave: list[float]) -> list[float]:
    return [amplitude(wave, k) for k in range(len(wave) // 2 + 1)]


def spread(amplitudes: list[float]) -> list[float]:
    """Mean, lower and upper quartile, and largest."""
    quartiles = np.quantile(amplitudes, [0.25, 0.75])
    return [sum(amplitudes) / len(amplitudes), *quartiles, max(amplitudes)]
