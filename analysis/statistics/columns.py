"""Columns by their contents, so that tables need not mention number formats."""

from collections.abc import Iterable
from functools import partial

import pyarrow as pa

from analysis.statistics.table import NAME, Column, interval


def _column(
    kind: pa.DataType,
    usual: str,
    name: str,
    meaning: str,
    unit: str = "",
    *,
    nullable: bool = False,
    at_most: str = "",
) -> Column:
    return Column(name, kind, meaning, unit or usual, nullable, at_most)


number, single = (partial(_column, kind, "share") for kind in (pa.float64(), pa.float32()))
"""A number of 64 bits, and one of 32, for columns with many rows or with the precision of
float32."""
singles = partial(_column, pa.list_(pa.float32()), "share")
smalls = partial(_column, pa.list_(pa.int16()), "index")
small, whole, count = (
    partial(_column, kind, "index") for kind in (pa.int16(), pa.int32(), pa.int64())
)
"""Whole numbers of 16, 32 and 64 bits."""
named = partial(_column, NAME, "name")
"""One of a few names."""
_TEXT = pa.string()
text = partial(_column, _TEXT, "text")
flag = partial(_column, pa.bool_(), "yes or no")


HAVING_SEQUENCES = count("n_sequences", "sequences that have it", "sequences")


def quantity(
    names: Iterable[str],
    columns: Iterable[Column],
    *,
    meaning: str = "",
    kind: pa.DataType = _TEXT,
) -> Column:
    """Return the key `quantity` of a table whose means are of columns with these names.

    Args:
        meaning: if it is not the list of names.
    """
    given = {column.name: (column.meaning, column.unit) for column in columns}
    meanings = {name: given[name] for name in names}
    listed = meaning or ", ".join(meanings)
    return Column("quantity", kind, listed, "name", quantities=meanings)


def mean_values(unit: str) -> tuple[Column, ...]:
    """Return the columns of a mean over those sequences that have a quantity."""
    mean = number("mean", "unweighted mean over the sequences that have it", unit)
    return (mean, *interval(unit), HAVING_SEQUENCES)
