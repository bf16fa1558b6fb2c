"""The position embeddings of several models side by side (figure 8)."""

from pathlib import Path

import pandas as pd
import streamlit as st

from analysis.tables.positions import embedding_spectrum, position_variance
from pages.positions.choices import told_peaks
from pages.positions.components import needed
from pages.positions.file_choice import file_label, pick_files
from pages.positions.file_panels import file_panels
from pages.positions.peaks import peaks
from pages.positions.spectrum_chart import with_period
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask_file
from pages.ui.words.say import say


def several_files(scale: str) -> None:
    """One panel per chosen file, each with a scale of its own, and their peaks as a table."""
    st.subheader(say("positions.files.title"), anchor=False)
    paths = pick_files(embedding_spectrum.TABLE)
    if not paths:
        return
    spectra = {name: _kept(path) for name, path in paths.items()}
    labels = {name: file_label(path) for name, path in paths.items()}
    _panels(spectra, labels, scale)
    _table(paths, spectra, labels)


def _kept(path: Path) -> pd.DataFrame:
    frame = ask_file(path, embedding_spectrum.spectra)
    return with_period(frame[frame["control"] == "kept"])


def _panels(spectra: dict[str, pd.DataFrame], labels: dict[str, str], scale: str) -> None:
    frame = pd.concat(
        [each.assign(file=labels[name]) for name, each in spectra.items()], ignore_index=True
    )
    question = say("positions.files.question")
    figure(
        file_panels(frame, scale, say("positions.amplitude")),
        key=f"po_files_{scale}_{len(spectra)}",
        question=question,
        caption=say("positions.files.caption"),
        frame=frame,
        alt=question,
    )


def _table(
    paths: dict[str, Path], spectra: dict[str, pd.DataFrame], labels: dict[str, str]
) -> None:
    """What stands out in each file, and how few dimensions hold it."""
    rows = [_row(paths[name], spectra[name], labels[name]) for name in spectra]
    number = st.column_config.NumberColumn
    table(
        pd.DataFrame(rows),
        key="po_files_table",
        question=say("positions.files.table"),
        caption=say("positions.files.table_caption"),
        columns={
            "file": say("positions.files.file"),
            "positions": number(say("positions.files.positions"), format="%d", width="small"),
            "peaks": say("positions.files.peaks"),
            "largest": number(say("positions.files.largest"), format="%.3g", width="small"),
            "half": number(say("positions.files.half"), format="%d", width="small"),
            "most": number(say("positions.files.most"), format="%d", width="small"),
        },
        placeholder="—",
    )


def _row(path: Path, spectrum: pd.DataFrame, label: str) -> dict[str, object]:
    found = peaks(spectrum)
    variance = ask_file(path, position_variance.cumulative)
    known = len(variance) > 0
    return {
        "file": label,
        "positions": round(float(spectrum["period"].max())),
        "peaks": told_peaks(found) if found else None,
        "largest": float(spectrum["mean"].max()),
        "half": needed(variance, 0.5) if known else None,
        "most": needed(variance, 0.9) if known else None,
    }
