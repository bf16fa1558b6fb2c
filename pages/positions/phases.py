"""By how much a head turns queries into keys, frequency by frequency (figure 6)."""

import numpy as np
import pandas as pd
import streamlit as st

from analysis.tables.positions import query_key_phase
from pages.positions.offsets import offsets_of
from pages.positions.phase_chart import phase_chart
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.numbers import percent
from pages.ui.words.offsets import offset_told

_HIGHEST = (128, 256)
_BINS = 64  # of the phase; of the planes whose phases fall into one, the largest counts
_NO_TURN = 1e-3  # radians
_EVEN = 0.02  # sides that differ by less are called even
_CELLS = 16_000  # above, neighbouring frequencies are drawn together


def phases(view: View, layer: int, head: int) -> None:
    frame = ask(query_key_phase.of_head, layer=layer, head=head)
    frame = frame[frame["frequency"] > 0]
    if frame.empty:
        st.info(view.say("no_phases"))
        return
    frame = relative(frame)
    st.markdown(view.say("phases_meaning"))
    view.finding(_finding(view, frame, layer, head))
    left, right = st.columns(2)
    with left:
        measure = view.pick("amplitude", ["relative", "amplitude"])
    with right:
        highest = view.pick("frequency", _HIGHEST)
    shown = binned(frame[frame["frequency"] <= highest], measure)
    view.figure(
        "phases",
        frame,
        phase_chart(shown, measure, highest=highest),
        state=f"{layer}_{head}_{measure}_{highest}",
        n=int(frame["n_sequences"].iloc[0]),
        length=int(frame["length"].iloc[0]),
    )


def relative(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with each amplitude over the mean of all planes at its frequency."""
    mean = frame.groupby("frequency")["amplitude"].transform("mean")
    return frame.assign(relative=frame["amplitude"] / mean.where(mean > 0))


def lean(frame: pd.DataFrame) -> float:
    """By what share relative amplitude is larger where keys run ahead, Δ > 0, than where Δ < 0.

    Planes that a rotation leaves alone or turns right round have no side.

    Args:
        frame: rows phase, relative.
    """
    has_side = frame["phase"].abs().between(_NO_TURN, np.pi - _NO_TURN)
    means = frame[has_side].groupby(frame["phase"] > 0)["relative"].mean()
    return float(means.get(True, np.nan) / means.get(False, np.nan) - 1)


def _finding(view: View, frame: pd.DataFrame, layer: int, head: int) -> str:
    """On which side of 0 amplitude is larger, and where attention leans."""
    larger = lean(frame)
    if np.isnan(larger):
        return ""
    side = "even" if abs(larger) < _EVEN else "left" if larger > 0 else "right"
    sentence = view.say(f"phases_{side}", larger=percent(abs(larger)))
    offsets = offsets_of(layer, head)
    if offsets is None:
        return sentence
    most = view.say("phases_attention", offset=offset_told(offsets["attention_offset"]))
    return f"{sentence} {most}"


def binned(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The largest value in every bin of phases and of frequencies, with the edges of the bins."""
    frequencies = np.sort(frame["frequency"].unique())
    step = float(frequencies[0]) if len(frequencies) == 1 else float(np.diff(frequencies).min())
    together = int(np.ceil(len(frequencies) * _BINS / _CELLS))
    wide = step * together
    column = ((frame["frequency"] - frequencies[0]) // wide).astype("int64")
    height = 2 * np.pi / _BINS
    row = ((frame["phase"] + np.pi) // height).clip(0, _BINS - 1).astype("int64")
    cells = frame.assign(column=column, row=row).groupby(["column", "row"], as_index=False)
    largest = cells.agg(**{measure: (measure, "max"), "planes": ("phase", "nunique")})
    start = frequencies[0] - step / 2 + wide * largest["column"]
    low = -np.pi + height * largest["row"]
    return largest.assign(
        x=start, x2=start + wide, y=low, y2=low + height, frequency=start + wide / 2
    ).dropna(subset=measure)
