"""Files of statistics with too much of anything, and files whose names are any bytes."""

import os
import shutil
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from analysis.contracts import every_table
from analysis.statistics.corpus import MANIFEST, RUN
from analysis.statistics.table import Column, Table
from pages.ui.contents import PAGES
from tests.pages.kit.copies import rows_of
from tests.tools.faults.hostile.files import Kind, n_rows, sections_of
from tests.tools.faults.hostile.inputs import MORE_MEMORY, most_memory
from tests.tools.faults.hostile.opened import FAMILIES, Pages
from tests.tools.faults.process import Wrong

_COUNTS = ("n_layers", "n_heads", "hidden_size", "n_sequences", "n_tokens")
_MANY = ("255", "65536", "100000000", "2147483647")
_LONG_VALUES = {
    pa.types.is_binary: "encode(repeat('x', {n}))",
    pa.types.is_list: "[each % 2 for each in range({n})]",
    pa.types.is_string: "repeat('x', {n})",
    pa.types.is_dictionary: "repeat('x', {n})",
}
_LONGEST_NAME = 200  # bytes


def kinds(pages: Pages, folder: Path) -> dict[str, Kind]:
    """Files that unfold into more than memory holds, and files between such of any name."""
    return {
        "files with too much of anything": partial(_filled, pages, folder),
        "file names of all bytes": partial(_named, pages, folder),
    }


def _filled(pages: Pages, folder: Path, chance: Random) -> str:
    """Put too much into a table, with matching counts in the manifest, and open its pages."""
    with TemporaryDirectory(dir=folder) as place:
        path = Path(place) / f"tiny-{chance.choice(list(FAMILIES))}.duckdb"
        shutil.copy(pages.statistics / path.name, path)
        table, statement = _fill(path, chance)
        before = most_memory()
        try:
            sessions = [
                pages.open(page, path.parent, **view) for page, view in sections_of(table, chance)
            ]
        except Wrong as fault:
            raise Wrong(f"after {statement}: {fault}") from fault
        if (more := most_memory() - before) > MORE_MEMORY:
            raise Wrong(f"took {more} MiB after {statement}")
        return "refused" if any(session.error for session in sessions) else "shown"


def _fill(path: Path, chance: Random) -> tuple[Table, str]:
    """Put too much into a file; return the table and a description."""
    with duckdb.connect(str(path)) as store:
        filled = [table for table in every_table() if table != MANIFEST and n_rows(store, table)]
        table = chance.choice(filled)
        statement = chance.choice(_ways(table, chance))
        store.execute(statement)
        store.execute(rows_of(table.name))
        return table, statement


def _ways(table: Table, chance: Random) -> list[str]:
    """Statements that make a table too long, its values too large, or its counts too high."""
    name = f"stored.{table.name}"
    if table == RUN:
        return [f"update {name} set {count} = {chance.choice(_MANY)}" for count in _COUNTS]
    times = int(10 ** chance.uniform(4, 6))
    rows = f"from (from {name} limit 1) as row, range({times}) as each(n)"
    numbered = [f'each.n % 100 as "{column.name}"' for column in table.key if _counts(column)]
    return [
        f"insert into {name} select row.* {rows}",
        f"insert into {name} by name select row.* replace ({', '.join(numbered)}) {rows}"
        if numbered
        else f"insert into {name} from {name}",
        *(
            f'update {name} set "{column.name}" = {value.format(n=10 ** chance.randint(3, 6))} '
            "where rowid < 30"
            for column in table.columns
            for is_of, value in _LONG_VALUES.items()
            if is_of(column.type)
        ),
    ]


def _counts(column: Column) -> bool:
    return pa.types.is_integer(column.type)


def _named(pages: Pages, folder: Path, chance: Random) -> str:
    """Put a file whose name is any bytes beside another, and open a page of one of both."""
    with TemporaryDirectory(dir=folder) as place:
        source = pages.statistics / f"tiny-{chance.choice(list(FAMILIES))}.duckdb"
        shutil.copy(source, place)
        alphabet = range(256) if chance.random() < 0.7 else range(32, 128)
        letters = [byte for byte in alphabet if byte not in b"/\0"]
        stem = bytes(chance.choices(letters, k=chance.randint(1, _LONGEST_NAME)))
        odd = os.fsencode(place) + b"/" + stem + b".duckdb"
        shutil.copy(os.fsencode(source), odd)
        page = chance.choice(list(PAGES))
        address = (
            {"file": f"{stem.decode(errors='replace')}.duckdb"} if chance.random() < 0.5 else {}
        )
        try:
            session = pages.open(page, Path(place), lang=chance.choice(("en", "ja")), **address)
        except Wrong as fault:
            raise Wrong(f"beside {stem!r}: {fault}") from fault
        return "left out, and said so" if session.sidebar.warning else "shown"
