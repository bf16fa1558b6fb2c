"""Slow twin: each coefficient summed term by term, wave by wave."""

import numpy as np

from tests.reference.positions.amplitude_spectrum import amplitude
from tests.reference.positions.amplitude_spectrum import spread as of_columns


def spread(waves):
    """Mean, quartiles and largest amplitude of the waves, by coefficient."""
    n = len(waves[0])
    return np.array([of_columns([amplitude(wave, k) for wave in waves]) for k in range(n // 2 + 1)])


def state_waves(inputs, factors):
    """The columns of X, of [X 1] · query and of [X 1] · key, as lists of numbers."""
    inputs = np.asarray(inputs, dtype=np.float64)
    extended = np.hstack([inputs, np.ones((len(inputs), 1))])
    waves = {"hidden": inputs.T.tolist()}
    for side in ("query", "key"):
        directions = getattr(factors, side).double().numpy()
        waves[side] = [wave.tolist() for head in directions for wave in (extended @ head).T]
    return waves
