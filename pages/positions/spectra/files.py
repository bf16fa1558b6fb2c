"""Which files of the folder stand side by side, and what they are called."""

from pathlib import Path

import streamlit as st

from analysis.tables.table import Table
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.pick import pick_many
from pages.ui.store.chosen import files, files_with, open_store, readable
from pages.ui.store.model_name import model_name
from pages.ui.store.open_file import Store
from pages.ui.words.say import plain, say

_MOST = len(SERIES_COLOURS)


def pick_files(table: Table) -> dict[str, Path]:
    """The chosen files by their names, of those that hold a statistic; the others are named.

    The open file and those after it, until the reader chooses others.
    """
    paths = {each.name: each for each in files_with(table)}
    own = open_store().name
    ordered = [own, *(each for each in paths if each != own)]
    chosen = pick_many(
        "po_files",
        say("positions.files.pick"),
        list(paths),
        default=ordered[:_MOST],
        limit=_MOST,
        help=say("positions.files.pick_help"),
    )
    lacking = [plain(each.name) for each in files() if each.name not in paths]
    if lacking:
        told = say("list.comma").join(lacking)
        st.caption(say("positions.files.lacking", names=told))
    if not chosen:
        st.info(say("positions.files.none"))
    return {name: paths[name] for name in chosen}


def file_label(path: Path) -> str:
    """The model and, since several files may be of one, the file."""
    store = readable(path)
    if not isinstance(store, Store):
        return path.name
    return say("positions.files.label", model=model_name(store), file=store.name)
