"""Errors of a page because its file was changed after it was built."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from analysis.checksums import changed_tables
from analysis.contracts import every_table
from analysis.foreign_file import BrokenContract
from analysis.statistics.corpus import MANIFEST
from pages.services.chosen import shown_file, why_unreadable
from pages.services.open_file import cursor


@contextmanager
def reporting_change() -> Iterator[None]:
    """Report a failure within the block by naming the changed table of the open file.

    To find it, tables are read whole, so only after a failure. If no table was changed, the error
    is a bug of the program, and it is raised again.
    """
    try:
        yield
    except Exception:
        store = shown_file()
        if store is None:
            raise
        with cursor(store.version) as opened:
            names = [table.name for table in every_table() if table != MANIFEST]
            changed = changed_tables(opened, names)
        if not changed:
            raise
        path = Path(store.version.path)
        st.error(why_unreadable(path, BrokenContract("changed", table=changed[0])))
