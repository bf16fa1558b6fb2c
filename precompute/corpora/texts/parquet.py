"""Parquet files with a column `text`: a text per row."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import BadCorpus
from precompute.corpora.checks import checked_text
from precompute.corpora.left_out import OnBadRow, refuse, usable_rows
from precompute.corpora.sequence import Text
from precompute.corpora.source import LEAST_UNPACKED, MOST_UNPACKED, UNFOLDS
from precompute.corpora.wording import file_name, shown

COLUMN = "text"
_ROWS_AT_A_TIME = 256


def parquet_entries(path: Path, on_bad_row: OnBadRow = refuse) -> Iterator[Text]:
    """Texts of a Parquet file, in its order; its other columns are not read.

    Args:
        on_bad_row: what happens where a row holds no text.

    Raises:
        BadCorpus: the file is damaged, or has no column of texts.
    """
    name = file_name(path)
    try:
        with pq.ParquetFile(path) as file:
            _check_column(file.schema_arrow, name)
            _check_sizes(file.metadata, name)
        # what stands in many rows is in memory once: a small file may hold a long text many times
        with pq.ParquetFile(path, read_dictionary=[COLUMN]) as file:
            batches = file.iter_batches(_ROWS_AT_A_TIME, columns=[COLUMN], use_threads=False)
            texts = (text for batch in batches for text in batch.column(0))
            numbered = ((text, f"{name} row {n}") for n, text in enumerate(texts, start=1))
            yield from usable_rows(numbered, lambda row: _entry(*row), on_bad_row)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged Parquet file ({reason}); make it again") from error


def _entry(text: pa.Scalar, place: str) -> Text:
    return Text(checked_text(text.as_py(), key=COLUMN, place=place), place)


def _check_sizes(metadata: pq.FileMetaData, name: str) -> None:
    """A piece of the column, which is unpacked as a whole, unfolds into no more than texts do."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for place in range(row_group.num_columns):
            column = row_group.column(place)
            most = max(LEAST_UNPACKED, MOST_UNPACKED * column.total_compressed_size)
            if column.path_in_schema == COLUMN and column.total_uncompressed_size > most:
                raise BadCorpus(name, f"column `{COLUMN}` {UNFOLDS}")


def _check_column(schema: pa.Schema, name: str) -> None:
    if COLUMN not in schema.names:
        columns = ", ".join(map(shown, schema.names[:8]))
        raise BadCorpus(
            name, f"has no column `{COLUMN}` (its columns: {columns}); rename the one of the texts"
        )
    kind = schema.field(COLUMN).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise BadCorpus(name, f"column `{COLUMN}` is of type {kind}; it must hold strings")
