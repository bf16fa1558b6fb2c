"""A page that fails because its file was changed after it was built."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from analysis.checksums import changed_tables
from analysis.contracts import every_table
from analysis.foreign_file import BrokenContract
from analysis.tables.corpus import MANIFEST
from pages.ui.store.chosen import open_store, why_unreadable
from pages.ui.store.open_file import cursor


@contextmanager
def reporting_change() -> Iterator[None]:
    """Where what stands in it fails, the reader is told which table of the open file was changed.

    Tables are read whole for that, so not before something fails; where none was changed the fault
    is ours, and it is raised.
    """
    try:
        yield
    except Exception:
        store = open_store()
        with cursor(store.version) as opened:
            names = [table.name for table in every_table() if table != MANIFEST]
            changed = changed_tables(opened, names)
        if not changed:
            raise
        path = Path(store.version.path)
        st.error(why_unreadable(path, BrokenContract("changed", table=changed[0])))
