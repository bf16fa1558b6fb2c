"""Which waves stand out in an amplitude spectrum."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.signal import find_peaks

from pages.ui.words.place import say_here
from pages.ui.words.say import say

UNIT = 512
"""Tokens that frequencies are counted in: cycles per 512 tokens."""
_STANDS_OUT = 3.0  # times the valley that parts a peak from any higher one
_APART = 2 ** (1 / 3)  # peaks of nearer frequencies are one
_MOST = 3


def with_period(frame: pd.DataFrame) -> pd.DataFrame:
    """Without frequency 0, which is no wave, and with the tokens that every other takes until it
    comes back, its period."""
    frame = frame[frame["frequency"] > 0]
    return frame.assign(period=UNIT / frame["frequency"])


def wave_words(frequency: float) -> dict[str, str]:
    """What sentences say of a wave: its frequency and its period, without needless digits."""
    period = UNIT / frequency
    tokens = f"{period:.2g}" if period < 10 else f"{period:.0f}"
    return {"frequency": f"{frequency:.3g}", "period": tokens}


def peaks_text(frequencies: Sequence[float], *, word: str = "peak_plain") -> str:
    """Peaks with their periods, as a list; each as a word of the page says it."""
    parts = (say_here(word, **wave_words(frequency)) for frequency in frequencies)
    return say("list.comma").join(parts)


def peaks(spectrum: pd.DataFrame) -> list[float]:
    """The frequencies of at most three waves that stand out in a spectrum, the clearest first.

    A peak has an amplitude at least three times that of the valley that parts it from any higher
    one, and is the highest within a third of an octave. The lowest frequency of all cannot be one:
    it has no valley before it.

    Args:
        spectrum: frequency, mean.
    """
    rows = spectrum[spectrum["frequency"] > 0].sort_values("frequency")
    frequency, amplitude = (rows[name].to_numpy(float) for name in ("frequency", "mean"))
    if not len(amplitude) or amplitude.min() <= 0:
        return []
    places, properties = find_peaks(np.log(amplitude), prominence=np.log(_STANDS_OUT))
    clearest = places[np.argsort(-properties["prominences"], kind="stable")]
    highest = _highest_around(places, frequency, amplitude)
    return [float(frequency[place]) for place in clearest if place in highest][:_MOST]


def _highest_around(
    places: Sequence[int], frequency: np.ndarray, amplitude: np.ndarray
) -> list[int]:
    """The places that are the highest of those within a third of an octave."""
    kept: list[int] = []
    for candidate in sorted(places, key=lambda place: -amplitude[place]):
        ratios = (frequency[candidate] / frequency[other] for other in kept)
        if all(max(ratio, 1 / ratio) >= _APART for ratio in ratios):
            kept.append(candidate)
    return kept
