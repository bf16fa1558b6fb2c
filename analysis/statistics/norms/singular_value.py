"""Largest and smallest singular values of each head's transformation."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, whole
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table, View

_KEY = (LAYER, HEAD, whole("rank", "place in descending order, from 1"))
_VALUE = number("value", "singular value of f as a linear map on [x 1]", "ratio")
_LINEAR = number(
    "linear_value",
    "singular value of W_V W_O, the linear part of f; NULL at the last rank, which it lacks",
    "ratio",
    nullable=True,
)
TABLE = Table(
    name="singular_value",
    grain="one row per layer, head and rank; the values that are exactly 0 are left out",
    key=_KEY,
    values=(_VALUE, _LINEAR),
    source="kobayashi-2020",
    laws=("value >= 0", "rank >= 1", "linear_value is null or linear_value >= 0"),
    views=(
        View(
            "singular_value",
            "one row per layer, head and rank; the values that are exactly 0 are left out",
            (*_KEY, _VALUE),
            "select layer, head, rank, value from stored.singular_value",
        ),
        View(
            "singular_value_linear",
            "one row per layer, head and rank, with the values of the linear part",
            (*_KEY, _VALUE, _LINEAR),
            "from stored.singular_value",
        ),
    ),
    depends_on=(),
    needs=(Need.AFFINE_VECTORS,),
    version=2,
    of_model=True,
)


@asks("""
    select layer, head, max(value) as largest, min(value) as smallest,
        max(linear_value) as linear_largest, min(linear_value) as linear_smallest
    from singular_value_linear
    group by layer, head
    order by layer, head
""")
def extremes(store: DuckDBPyConnection) -> pd.DataFrame:
    """layer, head, largest, smallest (of the values that can differ from 0), for every head.

    `linear_largest` and `linear_smallest` are those of the linear part.
    """
    ...
