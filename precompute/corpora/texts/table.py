"""Tables (CSV, TSV): a row is read as an object of JSON Lines, whose keys the first line holds."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import BadCorpus
from precompute.corpora.source import LONGEST_LINE, Head, head_of, numbered_lines
from precompute.corpora.texts.jsonl import FORM_KEYS, TEXT, Row
from precompute.corpora.wording import file_name, listed

_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_MARK = re.compile(r"\W|.*[.):]$")
"""First cell of a line of prose: a bullet, a number such as `1.`, or a speaker such as `ANNA:`."""

csv.field_size_limit(LONGEST_LINE)


def table_options(head: Head) -> dict[str, Any] | None:
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


def _is_table(head: Head, options: dict[str, Any]) -> bool:
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
    rows = _rows(path)
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


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield place and cells of each row that is not blank."""
    name, options = file_name(path), table_options(head_of(path))
    lines = (f"{line.text}\n" for line in numbered_lines(path, stripped=False))
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
