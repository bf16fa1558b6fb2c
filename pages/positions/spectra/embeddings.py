"""Waves in the position embeddings, of one file and of several (figures 3, 8 and 9)."""

import pandas as pd
import streamlit as st

from analysis.tables.positions import embedding_spectrum, position_variance, state_spectrum
from pages.positions.choices import pick_scale, series_colours, told_peaks
from pages.positions.components import components, needed
from pages.positions.peaks import UNIT, peaks
from pages.positions.published import of_embeddings
from pages.positions.several_files import several_files
from pages.positions.spectrum_chart import spectrum_lines, with_period
from pages.ui.about import about
from pages.ui.figure import figure
from pages.ui.published import beside
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_SERIES = ("kept", "words", "permuted")


def show() -> None:
    require(embedding_spectrum.TABLE, position_variance.TABLE)
    st.header(say("positions.embeddings.title"), anchor=False)
    spectra = ask(embedding_spectrum.spectra)
    variance = ask(position_variance.cumulative)
    kept = spectra[spectra["control"] == "kept"]
    words, length = _words(_positions(spectra))
    st.markdown(f"{_finding(kept, words)} {_told_components(variance)}")
    scale = pick_scale()
    _spectrum(pd.concat([_series(spectra), words], ignore_index=True), length, scale)
    several_files(scale)
    components(variance)
    beside(
        *of_embeddings(variance, peaks(kept)),
        key="po_published_embeddings",
        title=say("published.title_embeddings"),
    )
    about(embedding_spectrum.TABLE, position_variance.TABLE)


def _series(spectra: pd.DataFrame) -> pd.DataFrame:
    return spectra.rename(columns={"control": "series"})


def _finding(kept: pd.DataFrame, words: pd.DataFrame) -> str:
    found = peaks(kept)
    if not found:
        return say("positions.embeddings.finding_none")
    told = say("positions.embeddings.finding", peaks=told_peaks(found, bold=True))
    if words.empty or peaks(words):
        return told
    return f"{told} {say('positions.embeddings.finding_words')}"


def _told_components(variance: pd.DataFrame) -> str:
    return say(
        "positions.embeddings.finding_components",
        half=needed(variance, 0.5),
        most=needed(variance, 0.9),
        width=count(len(variance)),
    )


def _spectrum(spectra: pd.DataFrame, length: int, scale: str) -> None:
    """The position embeddings beside the words of the texts and beside themselves in disorder.

    Args:
        spectra: series, frequency, mean, q25, q75.
        length: on how many words theirs was measured; 0 where there are none.
    """
    names = {each: say(f"positions.embeddings.{each}") for each in _SERIES}
    frame = with_period(spectra[spectra["series"].isin(_SERIES)])
    frame = frame[frame["mean"] > 0]
    question = say("positions.embeddings.question")
    caption = say("positions.embeddings.caption", width=count(open_store().run["hidden_size"]))
    if length:
        told = {"length": count(length), "positions": count(_positions(spectra))}
        caption = f"{caption} {say('positions.embeddings.caption_words', **told)}"
    chart = spectrum_lines(
        frame.assign(name=frame["series"].map(names)),
        colour="name",
        colours=series_colours(names),
        y_title=say("positions.amplitude"),
        y_scale="log" if scale == "log" else "linear",
        band=names["kept"],
    )
    figure(
        chart,
        key=f"po_spectrum_{scale}",
        question=question,
        caption=caption,
        frame=frame,
        alt=question,
    )


def _positions(spectra: pd.DataFrame) -> int:
    """How many positions the model knows: the lowest frequency is one wave over all of them."""
    frequency = spectra["frequency"]
    return round(UNIT / frequency[frequency > 0].min())


def _words(positions: int) -> tuple[pd.DataFrame, int]:
    """The spectrum of the texts' words at the level that `positions` words would have, and on how
    many words it was measured; nothing where the file has none."""
    if not open_store().rows.get(state_spectrum.TABLE.name):
        return pd.DataFrame(), 0
    lengths = ask(state_spectrum.lengths)
    if lengths.empty:
        return pd.DataFrame(), 0
    length = int(lengths["length"].iloc[0])
    frame = ask(state_spectrum.by_layer, source="word_embedding", length=length, control="kept")
    level = (positions / length) ** 0.5
    columns = ["mean", "q25", "q75", "max"]
    frame = frame.assign(series="words", **{name: frame[name] * level for name in columns})
    return frame[["series", "frequency", *columns]], length
