"""The spectra of hidden states, queries and keys, read once for all charts of a section."""

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


def read(length: int, amount: str, *, controls: tuple[str, ...] = CONTROLS) -> pd.DataFrame:
    """Hidden states, queries and keys of every layer, of texts of one length.

    Returns:
        control, source, layer, frequency, period, amplitude, n_sequences.
    """
    parts = [
        ask(state_spectrum.by_layer, source=source, length=length, control=control).assign(
            source=source, control=control
        )
        for source in SOURCES
        for control in controls
    ]
    frame = with_period(pd.concat(parts, ignore_index=True)).rename(columns={amount: "amplitude"})
    columns = ["control", "source", "layer", "frequency", "period", "amplitude", "n_sequences"]
    return frame.loc[frame["amplitude"].notna(), columns]


def with_ratio(spectra: pd.DataFrame) -> pd.DataFrame:
    """Amplitude with positions over that without them, of the same texts, where both are known."""
    keys = ["source", "layer", "frequency", "period"]
    with_them, without = (spectra[spectra["control"] == control] for control in BESIDE[:2])
    both = with_them.merge(without, on=keys, suffixes=("", "_removed"))
    both = both[(both["amplitude_removed"] > 0) & (both["amplitude"] > 0)]
    return both.assign(ratio=both["amplitude"] / both["amplitude_removed"])
