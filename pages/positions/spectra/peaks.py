"""Peaks of an amplitude spectrum."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.signal import find_peaks

from pages.words.say import say
from pages.words.scope import say_here

UNIT = 512
"""Unit of frequencies: cycles per 512 tokens."""
SPECTRA = "from embedding_spectrum order by control, frequency"
VARIANCE = "from position_variance order by component"
_STANDS_OUT = 3.0  # ratio of a peak to the valley between it and any higher peak
_APART = 2 ** (1 / 3)  # peaks of nearer frequencies are one
_MOST = 3


def with_period(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the period in tokens; frequency 0 is dropped, since it has none."""
    frame = frame[frame["frequency"] > 0]
    return frame.assign(period=UNIT / frame["frequency"])


def wave_words(frequency: float) -> dict[str, str]:
    """Format frequency and period of a wave for sentences."""
    period = UNIT / frequency
    tokens = f"{period:.2g}" if period < 10 else f"{period:.0f}"
    return {"frequency": f"{frequency:.3g}", "period": tokens}


def times(ratio: float) -> str:
    """Format a ratio with one decimal; without decimals from 10 on."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def peaks_text(frequencies: Sequence[float]) -> str:
    """Format peaks with their periods as a list."""
    parts = (say_here("peak_plain", **wave_words(frequency)) for frequency in frequencies)
    return say("list.comma").join(parts)


def needed(variance: pd.DataFrame, share: float) -> int | None:
    """Least number of components that hold a share of the variance; None of nothing."""
    if variance.empty:
        return None
    enough = variance[variance["cumulative"] >= share - 1e-9]
    return int(enough["component"].min() if len(enough) else variance["component"].max())


def peaks(spectrum: pd.DataFrame) -> list[float]:
    """Frequencies of the three most prominent peaks of a spectrum at most, the clearest first.

    The amplitude of a peak is at least three times that of the valley between it and any higher
    peak, and the highest within a third of an octave. The lowest frequency has no valley before it
    and is never a peak.

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
    """Keep the highest places within a third of an octave."""
    kept: list[int] = []
    for candidate in sorted(places, key=lambda place: -amplitude[place]):
        ratios = (frequency[candidate] / frequency[other] for other in kept)
        if all(max(ratio, 1 / ratio) >= _APART for ratio in ratios):
            kept.append(candidate)
    return kept
