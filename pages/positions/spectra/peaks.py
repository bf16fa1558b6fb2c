"""Which waves stand out in an amplitude spectrum."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.signal import find_peaks

UNIT = 512
"""Tokens that frequencies are counted in: cycles per 512 tokens."""
_STANDS_OUT = 3.0  # times the valley that parts a peak from any higher one
_APART = 2 ** (1 / 3)  # peaks of nearer frequencies are one
_MOST = 3


def period(frequency: float) -> float:
    """How many tokens a wave takes until it comes back."""
    return UNIT / frequency


def peaks(spectrum: pd.DataFrame) -> list[float]:
    """The frequencies of at most three waves that stand out in a spectrum, the clearest first.

    A peak has an amplitude at least three times that of the valley that parts it from any higher
    one, and is the highest within a third of an octave. The lowest frequency of all cannot be one:
    it has no valley before it.

    Args:
        spectrum: frequency, mean.
    """
    found = spectrum[spectrum["frequency"] > 0].sort_values("frequency")
    frequency, amplitude = (found[name].to_numpy(float) for name in ("frequency", "mean"))
    if not len(amplitude) or amplitude.min() <= 0:
        return []
    places, told = find_peaks(np.log(amplitude), prominence=np.log(_STANDS_OUT))
    clearest = places[np.argsort(-told["prominences"], kind="stable")]
    highest = _highest_around(places, frequency, amplitude)
    return [float(frequency[each]) for each in clearest if each in highest][:_MOST]


def _highest_around(
    places: Sequence[int], frequency: np.ndarray, amplitude: np.ndarray
) -> list[int]:
    """The places that are the highest of those within a third of an octave."""
    kept: list[int] = []
    for each in sorted(places, key=lambda place: -amplitude[place]):
        ratios = (frequency[each] / frequency[other] for other in kept)
        if all(max(ratio, 1 / ratio) >= _APART for ratio in ratios):
            kept.append(each)
    return kept
