"""The clearest wave of the position embeddings, and what becomes of it in each layer."""

import numpy as np
import pandas as pd

from analysis.published.positions import COMPONENTS, PEAK
from pages.kit.published_table import Row
from pages.kit.section import Choices, rows_of
from pages.positions.spectra.peaks import SPECTRA, VARIANCE, needed, peaks, wave_words
from pages.services.inquiry import Inquiry
from pages.words.scope import say_here

CONTROLS = ("compared", "removed", "permuted")
"""Texts that were run again: unchanged, without and with shuffled positions."""
STATES = """
    select control, source, layer, frequency, 512 / frequency as period,
        if($amount = 'max', "max", "mean") as amplitude, n_sequences
    from position_spectrum_control
    where length = $length and source = $source and frequency > 0"""
_LENGTHS = """
    select length from position_spectrum_control where control = 'kept' and source = 'hidden'
    group by length order by max(n_sequences) desc, length desc"""
_UNITS, _TENS = 10, 100


def lengths(inquiry: Inquiry, _: Choices) -> list[int]:
    """Lengths of texts that have spectra, the shortest first."""
    return sorted(rows_of(_LENGTHS, inquiry, {})["length"].tolist())


def commonest_length(inquiry: Inquiry, _: Choices) -> int | None:
    """Length of most texts; None without spectra of texts."""
    return next(iter(rows_of(_LENGTHS, inquiry, {})["length"].tolist()), None)


def _spectra(inquiry: Inquiry) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Spectra of the position embeddings, as they are and in random order, without frequency 0."""
    frame = rows_of(SPECTRA, inquiry, {})
    frame = frame[frame["frequency"] > 0]
    return frame[frame["control"] == "kept"], frame[frame["control"] == "permuted"]


def printed(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Printed variance of the first components and peak of the spectrum, in column `row`."""
    variance = rows_of(VARIANCE, inquiry, {}).set_index("component")["cumulative"]
    named = {number: say_here("published.components", n=number.component) for number in COMPONENTS}
    rows = [Row(name, number, variance.get(number.component)) for number, name in named.items()]
    peak = next(iter(peaks(_spectra(inquiry)[0])), None)
    return pd.DataFrame({"row": [*rows, Row(say_here("published.peak"), PEAK, peak)]})


def wave(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Amplitudes at the clearest wave of the position embeddings, of texts that were run again.

    Without a peak, it is the frequency at which positions raise the first layer most.
    """
    frame = rows_of(STATES, inquiry, choices)
    frame = frame[frame["control"].isin(CONTROLS) & frame["amplitude"].gt(0)]
    if frame.empty:
        return frame
    first = frame[frame["layer"] == frame["layer"].min()]
    wide = first.pivot(index="frequency", columns="control", values="amplitude")
    at = next(iter(peaks(_spectra(inquiry)[0])), (wide["compared"] / wide["removed"]).idxmax())
    nearest = min(wide.index, key=lambda frequency: abs(frequency - at))
    return frame[np.isclose(frame["frequency"], nearest)].sort_values(["control", "layer"])


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on position embeddings or on states."""
    return (_of_embeddings if choices["carrier"] == "embeddings" else _of_states)(inquiry, choices)


def _of_embeddings(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Amplitude of the clearest wave against the highest of shuffled positions; the components.

    Each is known exactly, since it is of the weights and of no sample.
    """
    kept, shuffled = _spectra(inquiry)
    rows = [{"sentence": 1, "name": "no_wave"}]
    if at := next(iter(peaks(kept)), None):
        height = float(kept.loc[kept["frequency"] == at, "mean"].iloc[0])
        values = {"wave": height, "shuffled": float(shuffled["mean"].max())}
        rows = [
            {"sentence": 1, "name": name, "format": _format(height), **_numbers(at)}
            | dict.fromkeys(("value", "low", "high"), value)
            for name, value in values.items()
        ]
    variance = rows_of(VARIANCE, inquiry, {})
    counts = {"half": needed(variance, 0.5), "most": needed(variance, 0.9), "width": len(variance)}
    return pd.DataFrame([*rows, {"sentence": 2, "name": "components"} | counts])


def _of_states(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Amplitude of the wave in the first and the last layer, against those of both controls."""
    frame = wave(inquiry, choices)
    if frame.empty:
        return pd.DataFrame([{"name": "unknown"}])
    ends = frame[frame["layer"].isin(frame["layer"].agg(["min", "max"]))]
    ends = ends.assign(place=ends["control"].map(CONTROLS.index)).sort_values(["layer", "place"])
    return pd.DataFrame(
        {
            "sentence": ends["layer"],
            "name": ends["control"].replace("compared", choices["source"]),
            "value": ends["amplitude"],
            "layer": ends["layer"],
            "format": _format(float(ends["amplitude"].max())),
            "n": int(ends["n_sequences"].max()),
            **_numbers(float(ends["frequency"].iloc[0])),
        }
    )


def _numbers(frequency: float) -> dict[str, float]:
    """Frequency and period of a wave, as they are rounded for sentences."""
    return {name: float(text) for name, text in wave_words(frequency).items()}


def _format(largest: float) -> str:
    """Format of amplitudes up to a largest one, with about three digits."""
    return ".2f" if largest < _UNITS else ".1f" if largest < _TENS else ",.0f"
