"""One layer's spectra: with, without and with disordered positions."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from pages.positions.choices import series_colours
from pages.positions.spectra import BESIDE, SOURCES, Spectra, control_name, source_name
from pages.positions.spectrum_chart import WIDTH, spectrum_lines
from pages.ui.figure import figure
from pages.ui.words.numbers import count
from pages.ui.words.say import say


def one_layer(spectra: Spectra, layer: int, scale: str) -> None:
    """The layer as it is, beside itself without positions and with disordered ones; by itself where
    no text was run again."""
    n_controlled = spectra.n_controlled
    frame = spectra.of(*BESIDE) if n_controlled else spectra.of("kept")
    frame = frame[frame["layer"] == layer]
    if frame.empty:
        st.info(say("positions.layer.none"))
        return
    names = {each: control_name(each) for each in dict.fromkeys(frame["control"])}
    shown = frame.assign(name=frame["control"].map(names), mean=frame["amplitude"])
    shown = shown[shown["mean"] > 0]
    question = say("positions.layer.question", layer=layer)
    told = "caption" if n_controlled else "caption_alone"
    figure(
        alt.concat(*_panels(shown, series_colours(names), scale), columns=1, spacing=16),
        key=f"po_layer_{layer}_{scale}_{spectra.key}",
        question=question,
        caption=say(f"positions.layer.{told}", n=count(n_controlled)),
        frame=frame,
        alt=question,
    )


def _panels(frame: pd.DataFrame, colours: dict[str, str], scale: str) -> list[Any]:
    present = [each for each in SOURCES if (frame["source"] == each).any()]
    return [
        spectrum_lines(
            frame[frame["source"] == source],
            colour="name",
            colours=colours,
            y_title=say("positions.amplitude"),
            y_scale="log" if scale == "log" else "linear",
            above=source == present[0],
            below=source == present[-1],
            height=150,
        ).properties(title=source_name(source), width=WIDTH)
        for source in present
    ]
