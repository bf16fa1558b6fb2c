"""What of the positions is left in hidden states, queries and keys, layer by layer (figure 5)."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.corpus import sequence_lengths
from analysis.tables.positions import state_spectrum
from pages.positions.spectra.amplitudes import (
    AMOUNTS,
    BESIDE,
    SCALES,
    SOURCES,
    Spectra,
    Wave,
    read,
    times_text,
    wave_of,
)
from pages.positions.spectra.charts import (
    amplitude_maps,
    below_each_other,
    by_source,
    ratio_maps,
    span,
    spectrum_lines,
)
from pages.positions.spectra.comparisons import Chosen, in_all_lengths, in_several_files
from pages.positions.spectra.peaks import frequency_text, period_text
from pages.ui.charts.colours import CONTROL_COLOURS
from pages.ui.page import section
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.place import said

_SHORTEST = 16  # tokens of a text that has a spectrum
_CLEAR = 1.5  # times the amplitude without positions, below which nothing is claimed


def too_short() -> str:
    """That no text has the tokens that a spectrum needs, if it is so."""
    held = open_store().rows.get(state_spectrum.TABLE.name)
    if held or (ask(sequence_lengths)["n_tokens"] >= _SHORTEST).any():
        return ""
    return said("short", least=_SHORTEST)


@section("states", state_spectrum.TABLE, lacking=too_short)
def states(view: View) -> None:
    lengths = ask(state_spectrum.lengths)
    length, amount = _pick(view, lengths)
    spectra = read(length, amount)
    ratio = spectra.ratio()
    view.finding(_finding(view, wave_of(ratio)))
    kept = spectra.of("kept")
    view.figure(
        "maps",
        kept,
        amplitude_maps(kept),
        state=spectra.key,
        length=count(length),
        longest=count(2 * length - 1),
        amount=view.say(f"amount_of_{amount}"),
    )
    if not ratio.empty:
        n = count(spectra.n_controlled)
        view.figure("ratio", ratio, ratio_maps(ratio), state=spectra.key, n=n)
    st.subheader(view.say("layer_title"), anchor=False)
    layers = range(1, int(open_store().run["n_layers"]) + 1)
    layer = view.pick("states_layer", layers, kind="pills")
    scale = view.pick("scale", SCALES)
    _layer(view, spectra, layer, scale)
    chosen = Chosen(view.pick("source", SOURCES, default="query"), layer, amount, scale)
    in_several_files(view, chosen)
    in_all_lengths(view, lengths, chosen)


def _pick(view: View, lengths: pd.DataFrame) -> tuple[int, str]:
    """How long the texts are, and whether the strongest dimension counts or all of them."""
    sequences = dict(zip(lengths["length"].astype(int), lengths["n_sequences"], strict=True))
    length = view.pick(
        "length",
        sorted(sequences),
        default=int(lengths["length"].iloc[0]),
        format=lambda each: view.say("length_option", length=count(each), n=count(sequences[each])),
    )
    return length, view.pick("amount", AMOUNTS)


def _finding(view: View, wave: Wave | None) -> str:
    """How many times more of that wave there is with positions than without, first and last."""
    if wave is None:
        return view.say("finding_unknown")
    query, end = wave.times["query", wave.first], wave.times["query", wave.last]
    kind = "none" if query < _CLEAR else "damped" if end < query else "kept"
    return view.say(
        f"finding_{kind}",
        where=view.say(f"wave_{'peak' if wave.of_embeddings else 'most'}"),
        frequency=frequency_text(wave.frequency),
        period=period_text(wave.frequency),
        hidden=times_text(wave.times["hidden", wave.first]),
        query=times_text(query),
        key=times_text(wave.times["key", wave.first]),
        end=times_text(end),
        first=wave.first,
        last=wave.last,
    )


def _layer(view: View, spectra: Spectra, layer: int, scale: str) -> None:
    """The layer as it is, beside itself without positions and with disordered ones; by itself where
    no text was run again."""
    n = spectra.n_controlled
    frame = spectra.of(*BESIDE) if n else spectra.of("kept")
    frame = frame[frame["layer"] == layer]
    if frame.empty:
        st.info(view.say("layer_none"))
        return
    view.figure(
        "layer",
        frame,
        _layer_chart(frame[frame["amplitude"] > 0], scale),
        state=f"{layer}_{scale}_{spectra.key}",
        caption=view.say("layer_caption", n=count(n)) if n else view.say("layer_alone"),
        layer=layer,
    )


def _layer_chart(frame: pd.DataFrame, scale: str) -> Any:
    """A panel per source with a line per control."""
    names = {each: said(f"control_{each}") for each in dict.fromkeys(frame["control"])}
    colours = {name: CONTROL_COLOURS[each] for each, name in names.items()}

    def lines(part: pd.DataFrame, x: alt.X) -> Any:
        named = part.assign(name=part["control"].map(names))
        return spectrum_lines(named, "amplitude", x, scale=scale, colours=colours)

    return below_each_other(by_source(frame), lines, span(frame), height=150)
