"""The spectra of hidden states, queries and keys, read once for all charts of a section."""

from dataclasses import dataclass

import pandas as pd

from analysis.tables.positions import state_spectrum
from analysis.tables.positions.state_spectrum import CONTROLS
from pages.positions.spectra.peaks import with_period
from pages.ui.store.chosen import ask

SOURCES = ("hidden", "query", "key")
SCALES = ("linear", "log")
BESIDE = ("compared", "removed", "permuted")
"""The texts that were run again: as they are, and what was done to their positions."""
AMOUNTS = ("max", "mean")
"""The strongest dimension, as in the paper, or the mean of all."""


@dataclass(frozen=True)
class Spectra:
    """Amplitudes by control, source, layer and frequency, of texts of one length.

    `frame` has the columns control, source, layer, frequency, period, amplitude, n_sequences.
    """

    frame: pd.DataFrame

    @property
    def n_controlled(self) -> int:
        """How many texts were run without their positions too."""
        compared = self.of("compared")
        return int(compared["n_sequences"].max()) if len(compared) else 0

    def of(self, *controls: str) -> pd.DataFrame:
        return self.frame[self.frame["control"].isin(controls)]

    def ratio(self) -> pd.DataFrame:
        """Amplitude with positions over that without them, of the same texts, where both are
        known."""
        keys = ["source", "layer", "frequency", "period"]
        both = self.of("compared").merge(self.of("removed"), on=keys, suffixes=("", "_removed"))
        both = both[(both["amplitude_removed"] > 0) & (both["amplitude"] > 0)]
        return both.assign(ratio=both["amplitude"] / both["amplitude_removed"])


def read(length: int, amount: str, *, controls: tuple[str, ...] = CONTROLS) -> Spectra:
    """Hidden states, queries and keys of every layer."""
    parts = [
        ask(state_spectrum.by_layer, source=source, length=length, control=control).assign(
            source=source, control=control
        )
        for source in SOURCES
        for control in controls
    ]
    frame = with_period(pd.concat(parts, ignore_index=True))
    frame = frame.assign(amplitude=frame[amount])
    columns = ["control", "source", "layer", "frequency", "period", "amplitude", "n_sequences"]
    return Spectra(frame.loc[frame["amplitude"].notna(), columns])
