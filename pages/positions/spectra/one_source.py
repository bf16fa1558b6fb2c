"""Hidden states, queries or keys of one layer in several models side by side."""

from pathlib import Path

import pandas as pd
import streamlit as st

from analysis.tables.positions import state_spectrum
from pages.positions.file_choice import file_label, pick_files
from pages.positions.file_panels import file_panels
from pages.positions.layer_choice import Chosen
from pages.positions.spectra import source_name
from pages.positions.spectrum_chart import with_period
from pages.ui.figure import figure
from pages.ui.store.chosen import ask_file, readable
from pages.ui.store.open_file import Store
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say


def states_of_files(chosen: Chosen) -> None:
    """One panel per chosen file that has the layer, each with a scale of its own."""
    st.subheader(say("positions.files.title"), anchor=False)
    paths = pick_files(state_spectrum.TABLE)
    if not paths:
        return
    spectra = {name: _spectrum(path, chosen) for name, path in paths.items()}
    without = [plain(name) for name, each in spectra.items() if each.empty]
    if without:
        told = say("list.comma").join(without)
        st.caption(say("positions.files.no_layer", layer=chosen.layer, names=told))
    shown = [each for each in spectra.values() if not each.empty]
    if not shown:
        return
    question = say(
        "positions.files.question_states", source=source_name(chosen.source), layer=chosen.layer
    )
    frame = pd.concat(shown, ignore_index=True)
    figure(
        file_panels(frame, chosen.scale, say("positions.lengths.axis")),
        key=f"po_states_files_{chosen.key}_{len(shown)}",
        question=question,
        caption=say(
            "positions.files.caption_states", amount=say(f"positions.states.told_{chosen.amount}")
        ),
        frame=frame,
        alt=question,
    )


def _spectrum(path: Path, chosen: Chosen) -> pd.DataFrame:
    """Amplitude over length, of the texts of the commonest length; empty without that layer.

    Returns:
        file, frequency, period, mean, length, n_sequences.
    """
    lengths = ask_file(path, state_spectrum.lengths)
    length = int(lengths["length"].iloc[0])
    frame = ask_file(
        path, state_spectrum.by_layer, source=chosen.source, length=length, control="kept"
    )
    frame = with_period(frame[frame["layer"] == chosen.layer])
    frame = frame.assign(
        mean=frame[chosen.amount] / length,
        length=length,
        file=_label(path, chosen.layer, lengths.iloc[0]) if len(frame) else "",
    )
    columns = ["file", "frequency", "period", "mean", "length", "n_sequences"]
    return frame.loc[frame["mean"] > 0, columns]


def _label(path: Path, layer: int, texts: pd.Series) -> str:
    """The model, the file, how deep the layer lies in it, and what was measured."""
    store = readable(path)
    return say(
        "positions.files.label_states",
        label=file_label(path),
        layer=layer,
        layers=int(store.run["n_layers"]) if isinstance(store, Store) else "?",
        length=count(texts["length"]),
        n=count(texts["n_sequences"]),
    )
