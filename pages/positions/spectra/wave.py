"""The one wave that sentences are about: how much of it is due to the position embeddings."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.tables.positions import embedding_spectrum
from pages.positions.spectra.peaks import peaks
from pages.ui.store.chosen import ask, open_store


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
