"""Arrow streams with a column of texts, as the `datasets` library saves them: one text per row."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from precompute.corpora.left_out import OnBadRow, refuse
from precompute.corpora.sequence import Text
from precompute.corpora.texts.parquet import COLUMN, check_column, refusing_damage, texts_of
from precompute.corpora.wording import file_name


def arrow_entries(
    path: Path, column: str = COLUMN, *, on_bad_row: OnBadRow = refuse
) -> Iterator[Text]:
    """Yield the texts of an Arrow stream, in its order; its other columns are not read.

    Args:
        on_bad_row: handler of a row without text.

    Raises:
        BadCorpus: the file is damaged, or has no column of texts.
    """
    name = file_name(path)
    with (
        refusing_damage(name, "Arrow"),
        pa.memory_map(str(path)) as file,
        pa.ipc.open_stream(file) as stream,
    ):
        check_column(stream.schema, column, name)
        yield from texts_of(stream, column, name, on_bad_row)
