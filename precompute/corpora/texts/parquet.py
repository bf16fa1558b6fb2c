"""Parquet files, and Arrow streams as the `datasets` library saves them, with a text per row."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import BadCorpus
from precompute.corpora.source import LEAST_UNPACKED, MOST_UNPACKED, UNFOLDS
from precompute.corpora.texts.jsonl import Row
from precompute.corpora.wording import file_name, listed, shown

_ROWS_AT_A_TIME = 256
_IS_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def parquet_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the texts of a Parquet file; its other columns are not read."""
    name, path = file_name(path), path.absolute()  # a relative name with a colon is an address
    with _refusing_damage(name, "Parquet"):
        with pq.ParquetFile(path) as file:
            _check_column(file.schema_arrow, column, name)
            _check_sizes(file.metadata, column, name)
        # a repeated value is in memory once: a small file may hold a long text many times
        with pq.ParquetFile(path, read_dictionary=[column]) as file:
            batches = file.iter_batches(_ROWS_AT_A_TIME, columns=[column], use_threads=False)
            yield from _rows(batches, column, name)


def arrow_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the texts of an Arrow stream, as `parquet_rows` does."""
    name = file_name(path)
    with (
        _refusing_damage(name, "Arrow"),
        pa.memory_map(str(path)) as file,
        pa.ipc.open_stream(file) as stream,
    ):
        _check_column(stream.schema, column, name)
        yield from _rows(stream, column, name)


@contextmanager
def _refusing_damage(name: str, kind: str) -> Iterator[None]:
    """Turn a read error into one that names the file as damaged, and its kind."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged {kind} file ({reason}); make it again") from error


def _rows(batches: Iterable[pa.RecordBatch], column: str, name: str) -> Iterator[Row]:
    texts = (text.as_py() for batch in batches for text in batch.column(column))
    for number, text in enumerate(texts, start=1):
        yield f"{name} row {number}", {column: text}


def _check_sizes(metadata: pq.FileMetaData, column: str, name: str) -> None:
    """A piece of the column, which is unpacked as a whole, unfolds into no more than texts do."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for place in range(row_group.num_columns):
            piece = row_group.column(place)
            most = max(LEAST_UNPACKED, MOST_UNPACKED * piece.total_compressed_size)
            if piece.path_in_schema == column and piece.total_uncompressed_size > most:
                raise BadCorpus(name, f"column `{column}` {UNFOLDS}")


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
    if not any(is_text(kind) for is_text in _IS_TEXT):
        raise BadCorpus(name, f"column `{column}` is of type {kind}; it must hold strings")
