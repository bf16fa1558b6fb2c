"""Files that tests write, and what a reader makes of them, as tables of cases hold it."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import BadCorpus, UserError
from precompute.corpora.left_out import LeftOut
from precompute.corpora.load import entries
from precompute.corpora.sequence import Entry


@dataclass(frozen=True)
class Blank:
    """A row that is left out since it has no text, with the reason that is printed."""

    reason: str


@dataclass(frozen=True)
class Bad:
    """A row that is left out since it is malformed, with the reason that is printed."""

    reason: str


Rows = Mapping[Any, object]
"""Readings by place, the number of a line or a text such as `row 3`: a text, a tuple of two,
a list of tokens or an entry; and the rows that are left out."""


def written(folder: Path, content: str | bytes, name: str = "f") -> str:
    """Write a file; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def line(identity: int | str, form="cat", head: int | str = 0, relation="root", **columns) -> str:
    """Return a line of CoNLL-U; other columns are `upos`, `feats` and `misc`."""
    known = {"upos": "_", "feats": "_", "misc": "_"} | columns
    cells = (identity, form, "_", known["upos"], "_", known["feats"], head, relation, "_")
    return "\t".join(map(str, (*cells, known["misc"]))) + "\n"


def outcome(given: str | tuple[str, ...], **options: Any) -> dict[str, object] | str:
    """Return what is read of a corpus and left out, by place; or the message of its refusal."""
    found: dict[str, object] = {}

    class Noting(LeftOut):
        def add(self, kind: str, error: BadCorpus) -> None:
            place, _, reason = str(error).partition(": ")
            found[place] = (Blank if kind == "blank_rows" else Bad)(reason)
            super().add(kind, error)

    try:
        for entry in entries(given, left_out=Noting(), **options):
            found[entry.place] = _content(entry)
    except UserError as error:
        return str(error)
    return found


def _content(entry: Entry) -> object:
    if entry.segments is not None or entry.annotation is not None:
        return entry
    if entry.tokens:
        return list(entry.tokens)
    return entry.texts if len(entry.texts) == 2 else entry.texts[0]


def assert_outcome(expected: Rows | str, given: str, **options: Any) -> None:
    """Check that a file `f` is read, or refused, as expected, row for row in their order."""
    found = outcome(given, **options)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
    else:
        places = (f"f line {key}" if isinstance(key, int) else f"f {key}" for key in expected)
        assert list(found.items()) == list(zip(places, expected.values(), strict=True))


def parquet(**columns: Any) -> bytes:
    """Return the content of a Parquet file of small row groups."""
    written = BytesIO()
    pq.write_table(pa.table(columns), written, row_group_size=300)
    return written.getvalue()


def arrow(**columns: Any) -> bytes:
    """Return the content of an Arrow stream of single rows, as the library `datasets` writes it."""
    written = BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table, max_chunksize=1)
    return written.getvalue()


def zstd(content: bytes) -> bytes:
    """The content as the tool `zstd` would compress it."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()
