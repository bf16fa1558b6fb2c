"""Several files side by side: which of the folder, what they are called, and their spectra."""

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from analysis.tables.table import Table
from pages.positions.spectra.charts import below_each_other, span, spectrum_lines
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.pick import pick_many
from pages.ui.store.chosen import files, files_with, open_store, readable
from pages.ui.store.model_name import model_name
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.place import said
from pages.ui.words.say import plain, say

_MOST = len(SERIES_COLOURS)


def pick_files(view: View, table: Table) -> list[Path]:
    """The chosen files of those that hold a statistic; the others are named.

    The open file and those after it, until the reader chooses others.
    """
    paths = {each.name: each for each in files_with(table)}
    own = open_store().name
    ordered = [own, *(each for each in paths if each != own)]
    chosen = pick_many(
        view.key("files"),
        view.say("files"),
        list(paths),
        default=ordered[:_MOST],
        limit=_MOST,
        help=view.say("files_help"),
    )
    lacking = [plain(each.name) for each in files() if each.name not in paths]
    if lacking:
        st.caption(view.say("files_lacking", names=say("list.comma").join(lacking)))
    if not chosen:
        st.info(view.say("files_none"))
    return [paths[name] for name in chosen]


def file_label(path: Path) -> str:
    """The model and, since several files may be of one, the file."""
    store = readable(path)
    if not isinstance(store, Store):
        return path.name
    return said("file_label", model=model_name(store), file=store.name)


def file_panels(frame: pd.DataFrame, y: str, scale: str) -> Any:
    """One panel for every name in the column `file`, over the same frequencies, each with a scale
    of its own.

    Args:
        frame: file, frequency, period, `y`, and q25 and q75 where a band is to be drawn.
        scale: of amplitudes, `linear` or `log`.
    """
    parts = {str(name): part for name, part in frame.groupby("file", sort=False)}
    colours = dict(zip(parts, SERIES_COLOURS, strict=False))

    def lines(part: pd.DataFrame, x: alt.X) -> Any:
        band = part["q25"].notna() if "q25" in part else None
        colour = colours[part["file"].iloc[0]]
        return spectrum_lines(part, y, x, scale=scale, colours=colour, band=band)

    return below_each_other(parts, lines, span(frame), height=130)
