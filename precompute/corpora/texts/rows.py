"""Files with a text or a list of tokens per row: JSON, tables, Parquet and Arrow streams.

A value of JSON is an object, {"text": …}, {"text_a": …, "text_b": …}, or {"tokens": […],
"segments": […]} with segments optional; or a string, which is a text; or a list of tokens. Other
keys, such as a title, are allowed and not read. If the option names another key of texts, only that
one is read. A row of a table (CSV, TSV) is read as an object whose keys the first line holds; of
Parquet and of Arrow streams, which the `datasets` library saves, the column of texts alone is read.
"""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import BadCorpus, UserError
from precompute.corpora import source
from precompute.corpora.left_out import checked_segments, checked_text, checked_tokens
from precompute.corpora.sequence import Entry
from precompute.corpora.wording import file_name, listed, shown

FORMS = ({"text"}, {"text_a", "text_b"}, {"tokens"}, {"tokens", "segments"})
TEXT = "text"
LARGEST_LIST = 2**28
"""Largest number of letters of a JSON list, which is held in memory as a whole."""
FORM_KEYS = set[str]().union(*FORMS)
Row = tuple[str, object]
"""Place of a value in its file, and the value, as of JSON; an error for one that cannot be read."""
_KEYS = ((), ("text",), ("text_a", "text_b"))
"""Keys of an entry without a text, of one and of two."""
EXPECTED = "give `text`, or `text_a` and `text_b`, or `tokens` with or without `segments`"


def jsonl_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the lines of a JSON Lines file but blank ones."""
    return ((line.place, _decoded(line)) for line in source.numbered_lines(path) if line.text)


def json_list_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the members of a file that is one JSON list."""
    name, lines, size = file_name(path), [], 0
    for line in source.numbered_lines(path, stripped=False):
        lines.append(line.text)
        size += len(line.text)
        if size > LARGEST_LIST:
            raise BadCorpus(name, "is one huge JSON list; write each member on a line of its own")
    try:
        members = _DECODER.decode("\n".join(lines))
    except (ValueError, RecursionError) as error:
        raise BadCorpus(name, f"is no whole JSON list ({error}); make it again") from error
    for number, member in enumerate(members, start=1):
        yield f"{name} item {number}", member


def write_jsonl(entries: Iterable[Entry], path: Path) -> int:
    """Write the entries as JSON Lines, and return their number; read, they are the same sequences.

    The file takes its name once it is complete; before, its name ends in `.unfinished`.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as handle:
            written = sum(1 for entry in entries if handle.write(f"{_line(entry)}\n"))
        os.replace(unfinished, path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror}); name a file in a folder that exists, "
            "may be written to and has room."
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return written


def _line(entry: Entry) -> str:
    if entry.annotation is not None:
        raise BadCorpus(
            entry.place, "trees and coreference have no place in JSON Lines; give this file itself"
        )
    fields: dict[str, object] = dict(zip(_KEYS[len(entry.texts)], entry.texts, strict=True))
    fields |= {"tokens": entry.tokens} if entry.tokens else {}
    fields |= {} if entry.segments is None else {"segments": entry.segments}
    return json.dumps(fields, ensure_ascii=False)


def entry_of(value: object, place: str, *, column: str = TEXT) -> Entry:
    """Return the value of a row as an entry, if it is in one of the forms."""
    if isinstance(value, BadCorpus):
        raise value
    if not isinstance(value, dict):
        if column != TEXT:
            raise BadCorpus(place, f"is {shown(value)} and has no keys; leave --column out")
        return _bare(value, place)
    keys = sorted(FORM_KEYS & value.keys()) if column == TEXT else [column]
    if column not in (TEXT, *value):
        raise BadCorpus(
            place,
            f"has no key `{column}` (its keys: {listed(value)}); name the one of the texts with "
            "--column",
        )
    if column == TEXT and {*keys} not in FORMS:
        held = " and ".join(f"`{key}`" for key in keys) or "no entry"
        raise BadCorpus(place, f"holds {held}; {EXPECTED}")
    if column == TEXT and "tokens" in keys:
        return _tokens(value, place)
    return Entry(place, tuple(checked_text(value[key], key=key, place=place) for key in keys))


def _bare(value: object, place: str) -> Entry:
    """Return a text or a list of tokens as an entry."""
    if isinstance(value, str):
        return Entry(place, (checked_text(value, key=TEXT, place=place),))
    if not isinstance(value, list):
        raise BadCorpus(place, f"is {shown(value)} and no object; {EXPECTED}")
    entry = _tokens({"tokens": value}, place)
    if any(" " in token.strip() for token in entry.tokens):
        raise BadCorpus(place, "is a list of texts, not of tokens; write a text to a line")
    return entry


def _tokens(fields: dict[str, object], place: str) -> Entry:
    tokens, segments = checked_tokens(fields["tokens"], place=place), None
    if "segments" in fields:
        segments = checked_segments(fields["segments"], n_tokens=len(tokens), place=place)
    return Entry(place, tokens=tokens, segments=segments)


def _decoded(line: source.Line) -> object:
    try:
        return _DECODER.decode(line.text)
    except RecursionError:
        return line.refused("is nested too deeply to be read; use flat objects")
    except ValueError as error:
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg} at character {error.pos + 1}"
        return line.refused(
            f"is not JSON ({reason}); a file that starts with {{ is read as JSON Lines, "
            "one whole object per line"
        )


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        twice = next(key for key, n in counted.items() if n > 1)
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant)


_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_MARK = re.compile(r"\W|.*[.):]$")
"""First cell of a line of prose: a bullet, a number such as `1.`, or a speaker such as `ANNA:`."""

csv.field_size_limit(source.LONGEST_LINE)


def table_options(head: source.Head) -> dict[str, Any] | None:
    """Return the options of Python's `csv` that read a file as a table; None for prose.

    A table has a line of names, or as many cells in every line and a column of numbers or quotes;
    prose with commas has neither. Quotes in TSV are letters unless they enclose whole cells.
    """
    for delimiter in "\t,;|":
        for quoting in (csv.QUOTE_MINIMAL, *((csv.QUOTE_NONE,) if delimiter == "\t" else ())):
            options = {"delimiter": delimiter, "quoting": quoting, "strict": True}
            first = next(csv.reader(head.lines[:1], delimiter=delimiter), [])
            options["skipinitialspace"] = any(cell.startswith(" ") for cell in first)
            if _is_table(head, options):
                return options
    return None


def _is_table(head: source.Head, options: dict[str, Any]) -> bool:
    rows: list[list[str]] = []
    is_broken = False
    try:
        rows.extend(
            row for row in csv.reader((f"{line}\n" for line in head.lines), **options) if row
        )
    except csv.Error as error:
        is_broken = not (head.is_cut and "end of data" in str(error))
    delimiter, is_tsv = options["delimiter"], options["delimiter"] == "\t"
    if len(rows) + is_broken + head.is_cut < 2 or not rows or (is_tsv and is_broken):
        return False
    header, *body = rows
    width, n_alike = len(header), sum(len(row) == len(rows[0]) for row in body)
    is_named = all(map(_NAME.fullmatch, header[not header[0] :])) and len({*header}) == width
    is_spaced = options["skipinitialspace"]
    if is_named and width > 1 and not is_spaced:
        return 2 * n_alike >= len(body)
    if not body or is_broken or n_alike < len(body) or (is_spaced and not is_named):
        return False
    has_quotes = any(re.search(f'(?:^|[{delimiter}]) ?"', line) for line in head.lines)
    if width == 1:
        return delimiter == "," and is_named and header[0].islower() and has_quotes
    columns = list(zip(*body, strict=True))
    if is_tsv:
        return all(map(any, columns)) and not all(_MARK.match(row[0]) for row in rows)
    return has_quotes or any(all(map(_NUMBER.fullmatch, column)) for column in columns)


def table_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the rows of a table as objects; the first line names its columns."""
    rows = _rows_of_table(path)
    _, header = next(rows)
    if column not in header and (column != TEXT or FORM_KEYS.isdisjoint(header)):
        raise BadCorpus(
            file_name(path),
            f"has no column `{column}` (its first line: {listed(header)}); name the one of the "
            "texts with --column, or put the names of the columns into the first line",
        )
    for place, cells in rows:
        if len(cells) == len(header):
            yield place, dict(zip(header, cells, strict=True))
        else:
            reason = f"has {len(cells)} cells, and the first line {len(header)}; quote the text"
            yield place, BadCorpus(place, reason)


def _rows_of_table(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield place and cells of each row that is not blank."""
    name, options = file_name(path), table_options(source.head_of(path))
    lines = (f"{line.text}\n" for line in source.numbered_lines(path, stripped=False))
    reader = csv.reader(lines, **options or {})
    while True:
        place = f"{name} line {reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            reason = f"is no row of a table ({error}); double the quotes within a quoted text"
            raise BadCorpus(place, reason) from error
        if cells is None:
            return
        if cells:
            yield place, cells


def parquet_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the texts of a Parquet file; its other columns are not read."""
    name, path = file_name(path), path.absolute()  # a relative name with a colon is an address
    with _refusing_damage(name, "Parquet"):
        with pq.ParquetFile(path) as file:
            _check_column(file.schema_arrow, column, name)
            _check_sizes(file.metadata, column, name)
        # a repeated value is in memory once: a small file may hold a long text many times
        with pq.ParquetFile(path, read_dictionary=[column]) as file:
            batches = file.iter_batches(256, columns=[column], use_threads=False)
            yield from _rows_of_column(batches, column, name)


def arrow_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the texts of an Arrow stream, as `parquet_rows` does."""
    name = file_name(path)
    with (
        _refusing_damage(name, "Arrow"),
        pa.memory_map(str(path)) as file,
        pa.ipc.open_stream(file) as stream,
    ):
        _check_column(stream.schema, column, name)
        yield from _rows_of_column(stream, column, name)


@contextmanager
def _refusing_damage(name: str, kind: str) -> Iterator[None]:
    """Turn a read error into one that names the file as damaged, and its kind."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged {kind} file ({reason}); make it again") from error


def _rows_of_column(batches: Iterable[pa.RecordBatch], column: str, name: str) -> Iterator[Row]:
    texts = (text.as_py() for batch in batches for text in batch.column(column))
    for number, text in enumerate(texts, start=1):
        yield f"{name} row {number}", {column: text}


def _check_sizes(metadata: pq.FileMetaData, column: str, name: str) -> None:
    """A piece of the column, which is unpacked as a whole, unfolds into no more than texts do."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for place in range(row_group.num_columns):
            piece = row_group.column(place)
            most = max(source.LEAST_UNPACKED, source.MOST_UNPACKED * piece.total_compressed_size)
            if piece.path_in_schema == column and piece.total_uncompressed_size > most:
                raise BadCorpus(name, f"column `{column}` {source.UNFOLDS}")


def _check_column(schema: pa.Schema, column: str, name: str) -> None:
    """Raise if a table has no such column of strings."""
    if schema.names.count(column) != 1:
        how_many = "several columns" if column in schema.names else "no column"
        raise BadCorpus(
            name,
            f"has {how_many} `{column}` (its columns: {listed(schema.names)}); name the one of the "
            "texts with --column",
        )
    kind = schema.field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if kind not in (pa.string(), pa.large_string(), pa.string_view()):
        raise BadCorpus(name, f"column `{column}` is of type {kind}; it must hold strings")
