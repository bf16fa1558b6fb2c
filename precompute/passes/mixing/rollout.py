"""Mean shares of where what has come together in a token is from, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.mixing.rollout import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_rollout",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows by token type, by distance and by both, of one layer and scope after the other."""
    chosen = store.execute("select distinct layer, scope from sequence_rollout order by all")
    return rows_of(
        TABLE,
        [
            _means(store, layer, scope, context).assign(layer=layer, scope=scope)
            for layer, scope in chosen.fetchall()
        ],
    )


def _means(store: DuckDBPyConnection, layer: int, scope: str, context: FitContext) -> pd.DataFrame:
    """Sequences without tokens of a type or at a distance count with a share of 0."""
    rows = store.execute(
        """
        select seq, token_type, distance, share
        from sequence_rollout
        where layer = $layer and scope = $scope
        """,
        {"layer": layer, "scope": scope},
    ).df()
    of_both = ["token_type", "distance"]
    cells, sequences, values = by_sequence(rows, cell=of_both, value="share")
    values = np.nan_to_num(values)
    frames, columns = [cells], [values]
    for kept in cells.columns:
        names, place = np.unique(cells[kept], return_inverse=True)
        frames.append(pd.DataFrame({kept: names}))
        columns.append(values @ np.eye(len(names))[place])
    every = pd.concat(frames, ignore_index=True)
    return with_intervals(every, np.concatenate(columns, axis=1), context.redraws(sequences))
