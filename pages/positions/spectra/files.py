"""Spectra of the position embeddings of several files."""

import pandas as pd

from analysis.statistics.corpus import identity_in
from analysis.statistics.positions.scores import EMBEDDING_SPECTRUM
from pages.charts.colours import SERIES_COLOURS
from pages.kit.section import Choices, query
from pages.positions.spectra.peaks import SPECTRA, VARIANCE, needed, peaks, peaks_text, with_period
from pages.services.chosen import other_stores
from pages.services.folder import files
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.scope import say_here

MOST = len(SERIES_COLOURS)


def _holding(inquiry: Inquiry) -> dict[str, Store]:
    """Files with spectra of position embeddings, by name: the open one, then those after it."""
    every = (inquiry.store, *other_stores(inquiry.store))
    return {store.name: store for store in every if store.holds(EMBEDDING_SPECTRUM)}


def names_of_files(inquiry: Inquiry, _: Choices) -> list[str]:
    """Names of the files with these spectra, in the order of the folder."""
    holding = _holding(inquiry)
    return [path.name for path in files() if path.name in holding]


def first_files(inquiry: Inquiry, _: Choices) -> list[str]:
    """Files that are shown by default: one of each model, on which position embeddings depend."""
    stores = _holding(inquiry)
    alike = {identity_in(store.facts) or name: name for name, store in reversed(stores.items())}
    return [name for name in stores if name in alike.values()][:MOST]


def _chosen(inquiry: Inquiry, choices: Choices) -> dict[str, Store]:
    """Chosen files by display names: of their models, and their own, since models may be alike."""
    stores = _holding(inquiry)
    chosen = (stores[name] for name in choices["files"] if name in stores)
    return {say_here("file_label", model=one.model_name, file=one.name): one for one in chosen}


def embeddings(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Spectra of each file's position embeddings, relative to their mean in random order."""
    parts = []
    for name, store in _chosen(inquiry, choices).items():
        frame = with_period(inquiry.asked.ask(store, query, sql=SPECTRA, values={}))
        kept, shuffled = (frame[frame["control"] == name] for name in ("kept", "permuted"))
        parts.append(kept.assign(relative=kept["mean"] / shuffled["mean"].mean(), file=name))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def peaks_of_files(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Peaks of each file, and the components with 50% and 90% of the variance."""
    frame, rows = embeddings(inquiry, choices), []
    for name, store in _chosen(inquiry, choices).items():
        spectrum = frame[frame["file"] == name]
        variance = inquiry.asked.ask(store, query, sql=VARIANCE, values={})
        row = {
            "file": name,
            "positions": round(float(spectrum["period"].max())),
            "peaks": peaks_text(peaks(spectrum)) or None,
            "largest": float(spectrum["mean"].max()),
        }
        rows.append(row | {"half": needed(variance, 0.5), "most": needed(variance, 0.9)})
    return pd.DataFrame(rows)
