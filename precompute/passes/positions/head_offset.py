"""The relative position that each head prefers, in its attention and in its scores."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.head_offset import preferred_offsets
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.head_offset import REACH, TABLE
from analysis.statistics.rows import rows_of

VERSION = 3
NEEDS = ("relative_position_profile", "query_key_correlation", "position_kernel")
_HEAD = ["layer", "head"]
_MEANS = {
    "attention_offset": "attention",
    "score_offset": "value",
    "attention_offset_per_pair": "attention_per_pair",
    "score_offset_per_pair": "value_per_pair",
    "score_offset_centred": "value_centred",
}


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head."""
    heads = store.execute(
        """
        select layer, head, avg(dependence) as dependence
        from sequence_relative_position
        group by layer, head
        order by layer, head
        """
    ).df()
    means = store.execute(
        'from query_key_correlation_mean where abs("offset") <= $reach', {"reach": REACH}
    ).df()
    kernels = store.execute(
        'from position_kernel where abs("offset") <= $reach', {"reach": REACH}
    ).df()
    for name, quantity in _MEANS.items():
        heads = heads.merge(_preferred(means, quantity, name), on=_HEAD)
    kernel = _preferred(kernels, "kernel", "kernel_offset").astype({"kernel_offset": "Int64"})
    return rows_of(TABLE, [heads.merge(kernel, on=_HEAD, how="left")])


def _preferred(values: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    """Every head there is, with the offset of its largest value; it has none beyond its window."""
    wide = values.pivot(index=_HEAD, columns="offset", values=quantity)
    offsets = wide.columns.to_numpy().astype(np.int64)
    preferred = (
        preferred_offsets(wide.fillna(-np.inf).to_numpy(), offsets) if len(wide) else offsets
    )
    return wide.index.to_frame(index=False).assign(**{name: preferred})
