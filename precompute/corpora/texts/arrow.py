"""Arrow streams with a column of texts, such as the `datasets` library saves: one text per row."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from analysis.errors import BadCorpus
from precompute.corpora.checks import checked_text
from precompute.corpora.sequence import Text
from precompute.corpora.texts.parquet import COLUMN, check_column
from precompute.corpora.wording import file_name, shown


def arrow_entries(path: Path, column: str = COLUMN) -> Iterator[Text]:
    """Texts of an Arrow stream, in its order; its other columns are not read.

    Raises:
        BadCorpus: the file is damaged, has no column of texts, or holds a row without text.
    """
    name, number = file_name(path), 0
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            check_column(stream.schema, column, name)
            for batch in stream:
                for text in batch.column(column):
                    number += 1
                    place = f"{name} row {number}"
                    yield Text(checked_text(text.as_py(), key=column, place=place), place)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged Arrow file ({reason}); make it again") from error
