"""The spectra of hidden states, queries and keys, read once for all charts of a section, and
the one wave in them that sentences are about."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.tables.positions import embedding_spectrum, state_spectrum
from analysis.tables.positions.state_spectrum import CONTROLS
from pages.positions.spectra.peaks import peaks, with_period
from pages.ui.store.chosen import ask, open_store

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
    length: int
    amount: str

    @property
    def key(self) -> str:
        """What charts of this choice are called."""
        return f"{self.length}_{self.amount}"

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
    return Spectra(frame.loc[frame["amplitude"].notna(), columns], length, amount)


@dataclass(frozen=True)
class Wave:
    """A frequency, whether it is a peak of the position embeddings, and by source and layer how
    many times the amplitude without them it has there."""

    frequency: float
    of_embeddings: bool
    times: dict[tuple[str, int], float]
    first: int
    last: int


def wave_of(ratio: pd.DataFrame) -> Wave | None:
    """The clearest peak of the position embeddings; where there is none, the frequency at which
    queries of the first layer depend most on positions; nothing where no ratio is known.

    Args:
        ratio: source, layer, frequency, ratio.
    """
    queries = ratio[ratio["source"] == "query"]
    if queries.empty:
        return None
    layers = queries["layer"].astype(int)
    first = queries[layers == layers.min()]
    found = peaks(_embeddings())
    frequencies = first["frequency"].to_numpy(float)
    at = found[0] if found else frequencies[first["ratio"].to_numpy(float).argmax()]
    nearest = float(frequencies[np.abs(frequencies - at).argmin()])
    there = ratio[np.isclose(ratio["frequency"], nearest)]
    places = zip(there["source"], there["layer"].astype(int), strict=True)
    times = dict(zip(places, there["ratio"], strict=True))
    return Wave(nearest, bool(found), times, int(layers.min()), int(layers.max()))


def times_text(ratio: float) -> str:
    """How many times, without needless digits."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _embeddings() -> pd.DataFrame:
    """The spectrum of the position embeddings, empty where the file has none."""
    if not open_store().rows.get(embedding_spectrum.TABLE.name):
        return pd.DataFrame({"frequency": [], "mean": []})
    frame = ask(embedding_spectrum.spectra)
    return frame[frame["control"] == "kept"]
