"""One source of a layer, in texts of all lengths."""

import pandas as pd
import streamlit as st

from pages.positions.layer_choice import Chosen
from pages.positions.spectra import read, source_name
from pages.positions.spectrum_chart import spectrum_lines
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.figure import figure
from pages.ui.words.numbers import count
from pages.ui.words.say import say


def lengths_overlaid(lengths: pd.DataFrame, chosen: Chosen) -> None:
    """One source of the chosen layer, a line for texts of each length."""
    if len(lengths) < 2:
        st.caption(say("positions.lengths.one"))
        return
    st.subheader(say("positions.lengths.title"), anchor=False)
    frame = _of_lengths(lengths, chosen)
    if frame.empty:
        st.info(say("positions.layer.none"))
        return
    colours = dict(zip(dict.fromkeys(frame["name"]), SERIES_COLOURS, strict=False))
    source = source_name(chosen.source)
    question = say("positions.lengths.question", source=source, layer=chosen.layer)
    figure(
        spectrum_lines(
            frame,
            colour="name",
            colours=colours,
            y_title=say("positions.lengths.axis"),
            y_scale="log" if chosen.scale == "log" else "linear",
            height=400,
        ),
        key=f"po_lengths_{chosen.key}",
        question=question,
        caption=say("positions.lengths.caption"),
        frame=frame,
        alt=question,
    )


def _of_lengths(lengths: pd.DataFrame, chosen: Chosen) -> pd.DataFrame:
    """Amplitude over length, so that a wave is as high in short texts as in long ones."""
    parts = []
    ordered = lengths.astype("int64").sort_values("length")
    for length, n in zip(ordered["length"], ordered["n_sequences"], strict=True):
        kept = read(int(length), chosen.amount, controls=("kept",)).frame
        kept = kept[(kept["source"] == chosen.source) & (kept["layer"] == chosen.layer)]
        name = say("positions.lengths.name", length=count(length), n=count(n))
        parts.append(kept.assign(mean=kept["amplitude"] / length, name=name))
    frame = pd.concat(parts, ignore_index=True)
    return frame[frame["mean"] > 0]
