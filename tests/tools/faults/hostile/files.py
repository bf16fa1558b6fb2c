"""Files of statistics from any source: shown with their own content, or refused in words."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from analysis.contracts import every_table
from analysis.statistics.corpus import MANIFEST, PROVENANCE, RUN
from analysis.statistics.table import Table
from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from precompute.store.check import faults
from tests.hostile_files import IGNORED, REFUSED, SECRET, change, write_sound_file
from tests.no_files_of_ours import NO_FILE_OF_OURS
from tests.pages.kit.section_checks import sections
from tests.tools.faults.hostile.opened import SCRIPT, Pages
from tests.tools.faults.process import Wrong

Kind = Callable[[Random], str]
_NUMBERS = ("'nan'", "'infinity'", "'-infinity'", "-1", "0", "1e30", "0.5", "null")
_WHOLE = ("0", "-1", "127", "32767", "2147483647", "9223372036854775807", "null")
_TEXTS = (f"'{SCRIPT}'", "''", "repeat('x', 100000)", "chr(0) || chr(8238)", "'**b** $z$'", "null")
_MOST_SECTIONS = 4
_WHERE = ("true", "true", "rowid = 0", "random() < 0.3")


def kinds(pages: Pages, folder: Path) -> dict[str, Kind]:
    """Files with views, types and tables that ours never have, and files with strange values."""
    planted = cycle(sorted([*IGNORED, *REFUSED, *NO_FILE_OF_OURS]))
    return {
        "files with what ours never have": partial(_planted, pages, folder, planted),
        "files with strange values": partial(_valued, pages, folder),
    }


def _planted(pages: Pages, folder: Path, names: Iterator[str], chance: Random) -> str:
    name = next(names)
    with TemporaryDirectory(dir=folder) as place:
        secret = Path(place) / "private" / "secret.txt"
        secret.parent.mkdir()
        secret.write_text(SECRET)
        shown = Path(place) / "statistics"
        shown.mkdir()
        path = write_sound_file(shown / "foreign.duckdb")
        if name in NO_FILE_OF_OURS:
            NO_FILE_OF_OURS[name](path, secret)
        else:
            change(path, IGNORED[name] if name in IGNORED else REFUSED[name][0], secret)
        page = chance.choice(list(PAGES))
        try:
            session = pages.open(page, shown, lang=chance.choice(("en", "ja")))
        except Wrong as fault:
            raise Wrong(f"{name}: {fault}") from fault
        parts = [*session.markdown, *session.error, *session.warning, *session.caption]
        if any(SECRET in str(part.value) for part in parts):
            raise Wrong(f"{name}: {page} shows what another file holds")
        if name not in IGNORED and not list(faults(path, every_table())):
            raise Wrong(f"{name}: check is content")
        return "refused" if session.error else "shown as it is"


def _valued(pages: Pages, folder: Path, chance: Random) -> str:
    """Some values of one column are others, and the pages that show it are opened."""
    with TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "tiny-bert.duckdb"
        shutil.copy(pages.statistics / path.name, path)
        table, statement = _change(path, chance)
        if not list(faults(path, every_table())):
            raise Wrong(f"check is content after {statement}")
        for page, view in sections_of(table, chance):
            try:
                pages.open(page, path.parent, lang=chance.choice(("en", "ja")), **view)
            except Wrong as fault:
                raise Wrong(f"after {statement}: {fault}") from fault
        return "found by check, and shown or refused"


def _change(path: Path, chance: Random) -> tuple[Table, str]:
    """Change the content of a file; return the table and a description."""
    with duckdb.connect(str(path)) as store:
        filled = [table for table in every_table() if table != MANIFEST and n_rows(store, table)]
        while True:
            table = chance.choice(filled)
            column = chance.choice(table.columns)
            if pa.types.is_floating(column.type):
                value = chance.choice(_NUMBERS)
            elif pa.types.is_integer(column.type):
                value = chance.choice(_WHOLE)
            else:
                value = chance.choice(_TEXTS)
            update = f'update stored.{table.name} set "{column.name}" = {value}'
            statement = f"{update} where {chance.choice(_WHERE)}"
            before = _hash(store, table)
            try:
                store.execute(statement)
            except duckdb.Error:
                continue  # DuckDB itself takes no such value
            if _hash(store, table) != before:
                return table, statement


def n_rows(store: duckdb.DuckDBPyConnection, table: Table) -> int:
    """Number of rows of a stored table."""
    return store.execute(f"select count(*) from stored.{table.name}").fetchall()[0][0]


def _hash(store: duckdb.DuckDBPyConnection, table: Table) -> tuple:
    return store.execute(
        f"select count(*), bit_xor(hash(row)), sum(hash(row)) from stored.{table.name} as row"
    ).fetchall()[0]


def sections_of(table: Table, chance: Random) -> list[tuple[str, dict[str, str]]]:
    """The overview, and some of the sections that need a table, by page and address."""
    if table in (RUN, PROVENANCE):
        return [("overview", {}), (chance.choice(list(VIEWS)), {})]
    views = [
        (name, {VIEWS[name]: section.stem})
        for name in VIEWS
        for section in sections(name)
        if table in (*section.needs, *section.also)
    ]
    return [("overview", {}), *chance.sample(views, min(len(views), _MOST_SECTIONS))]
