"""Slow twin: each coefficient as a sum of cosines and sines, each quartile from a sorted list."""

import math

import numpy as np


def amplitude(wave, coefficient):
    turn = 2 * math.pi * coefficient / len(wave)
    real = math.fsum(value * math.cos(turn * t) for t, value in enumerate(wave))
    imaginary = math.fsum(value * math.sin(turn * t) for t, value in enumerate(wave))
    return math.hypot(real, imaginary)


def spread(waves):
    """By coefficient: mean, lower and upper quartile and largest amplitude of the waves."""
    n = len(waves[0])
    rows = []
    for coefficient in range(n // 2 + 1):
        amplitudes = sorted(amplitude(wave, coefficient) for wave in waves)
        mean = math.fsum(amplitudes) / len(amplitudes)
        quartiles = [_quantile(amplitudes, share) for share in (0.25, 0.75)]
        rows.append([mean, *quartiles, amplitudes[-1]])
    return np.array(rows)


def _quantile(ordered, share):
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def state_waves(inputs, factors):
    """The columns of X, of [X 1] · query and of [X 1] · key, as lists of numbers."""
    inputs = np.asarray(inputs, dtype=np.float64)
    extended = np.hstack([inputs, np.ones((len(inputs), 1))])
    waves = {"hidden": inputs.T.tolist()}
    for side in ("query", "key"):
        directions = getattr(factors, side).double().numpy()
        waves[side] = [wave.tolist() for head in directions for wave in (extended @ head).T]
    return waves
