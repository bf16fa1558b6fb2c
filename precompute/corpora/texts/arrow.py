"""Arrow streams with a column of texts, such as the `datasets` library saves: one text per row."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from analysis.errors import BadCorpus
from precompute.corpora.sequence import Text
from precompute.corpora.texts.parquet import COLUMN, check_column, texts_of
from precompute.corpora.wording import file_name, shown


def arrow_entries(path: Path, column: str = COLUMN) -> Iterator[Text]:
    """Texts of an Arrow stream, in its order; its other columns are not read.

    Raises:
        BadCorpus: the file is damaged, has no column of texts, or holds a row without text.
    """
    name = file_name(path)
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            check_column(stream.schema, column, name)
            yield from texts_of(stream, column, name)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged Arrow file ({reason}); make it again") from error
