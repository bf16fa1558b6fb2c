"""Arrow streams with a column of texts, such as the `datasets` library saves: one text per row."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from analysis.errors import BadCorpus
from precompute.corpora.left_out import OnBadRow, refuse
from precompute.corpora.sequence import Text
from precompute.corpora.texts.parquet import COLUMN, check_column, texts_of
from precompute.corpora.wording import file_name, shown


def arrow_entries(
    path: Path, column: str = COLUMN, *, on_bad_row: OnBadRow = refuse
) -> Iterator[Text]:
    """Texts of an Arrow stream, in its order; its other columns are not read.

    Args:
        on_bad_row: what happens where a row holds no text.

    Raises:
        BadCorpus: the file is damaged, or has no column of texts.
    """
    name = file_name(path)
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            check_column(stream.schema, column, name)
            yield from texts_of(stream, column, name, on_bad_row)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown(str(error).partition("\n")[0])
        raise BadCorpus(name, f"is a damaged Arrow file ({reason}); make it again") from error
