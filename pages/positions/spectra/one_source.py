"""Hidden states, queries or keys of one layer, in several models and in texts of all lengths."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from analysis.tables.positions import state_spectrum
from pages.positions.spectra.amplitudes import read
from pages.positions.spectra.charts import spectrum_chart
from pages.positions.spectra.files import file_label, file_panels, pick_files
from pages.positions.spectra.peaks import with_period
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.store.chosen import ask_file, readable
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say


@dataclass(frozen=True)
class Chosen:
    """A source of a layer, which amount of it, and how amplitudes are drawn."""

    source: str
    layer: int
    amount: str
    scale: str

    @property
    def key(self) -> str:
        """What charts of this choice are called."""
        return f"{self.source}_{self.layer}_{self.amount}_{self.scale}"


def in_several_files(view: View, chosen: Chosen) -> None:
    """One panel per chosen file that has the layer, each with a scale of its own."""
    st.subheader(view.say("files_title"), anchor=False)
    spectra = {
        path: _of_file(view, path, chosen) for path in pick_files(view, state_spectrum.TABLE)
    }
    without = [plain(path.name) for path, each in spectra.items() if each.empty]
    if without:
        names = say("list.comma").join(without)
        st.caption(view.say("files_no_layer", layer=chosen.layer, names=names))
    shown = [each for each in spectra.values() if not each.empty]
    if not shown:
        return
    frame = pd.concat(shown, ignore_index=True)
    view.figure(
        "other_files",
        frame,
        file_panels(frame, "per_token", chosen.scale),
        state=f"{chosen.key}_{len(shown)}",
        source=view.say(f"source_{chosen.source}"),
        layer=chosen.layer,
        amount=view.say(f"amount_of_{chosen.amount}"),
    )


def _of_file(view: View, path: Path, chosen: Chosen) -> pd.DataFrame:
    """Amplitude over length, of the texts of the commonest length; empty without that layer.

    Returns:
        file, frequency, period, per_token, length, n_sequences.
    """
    texts, store = ask_file(path, state_spectrum.lengths).iloc[0], readable(path)
    length = int(texts["length"])
    asked = {"source": chosen.source, "length": length, "control": "kept"}
    frame = with_period(ask_file(path, state_spectrum.by_layer, **asked))
    frame = frame[frame["layer"] == chosen.layer]
    label = view.say(
        "file_panel",
        label=file_label(path),
        layer=chosen.layer,
        layers=int(store.run["n_layers"]) if isinstance(store, Store) else "?",
        length=count(length),
        n=count(texts["n_sequences"]),
    )
    frame = frame.assign(per_token=frame[chosen.amount] / length, length=length, file=label)
    columns = ["file", "frequency", "period", "per_token", "length", "n_sequences"]
    return frame.loc[frame["per_token"] > 0, columns]


def in_all_lengths(view: View, lengths: pd.DataFrame, chosen: Chosen) -> None:
    """A line for texts of each length."""
    if len(lengths) < 2:
        st.caption(view.say("lengths_one"))
        return
    st.subheader(view.say("lengths_title"), anchor=False)
    ordered = lengths.astype("int64").sort_values("length")
    sizes = zip(ordered["length"], ordered["n_sequences"], strict=True)
    frame = pd.concat([_of_length(view, *size, chosen) for size in sizes], ignore_index=True)
    if frame.empty:
        st.info(view.say("layer_none"))
        return
    colours = dict(zip(dict.fromkeys(frame["name"]), SERIES_COLOURS, strict=False))
    view.figure(
        "lengths",
        frame,
        spectrum_chart(frame, "per_token", scale=chosen.scale, colours=colours, height=400),
        state=chosen.key,
        source=view.say(f"source_{chosen.source}"),
        layer=chosen.layer,
    )


def _of_length(view: View, length: int, n: int, chosen: Chosen) -> pd.DataFrame:
    """Amplitude over length, so that a wave is as high in short texts as in long ones."""
    frame = read(length, chosen.amount, controls=("kept",)).frame
    frame = frame[(frame["source"] == chosen.source) & (frame["layer"] == chosen.layer)]
    name = view.say("length_option", length=count(length), n=count(n))
    frame = frame.assign(per_token=frame["amplitude"] / length, name=name)
    return frame[frame["per_token"] > 0]
