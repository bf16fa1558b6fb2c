"""Mean shares of the relations in what each step changes, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.relation_share import TABLE
from precompute.intervals import by_sequence, rows_of, with_intervals
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("sequence_relation_change",)
_SHARES = """
    with amount as (
        unpivot (
            select seq, effect, relation, n::double as pairs, change, gain, change - gain as loss
            from sequence_relation_change
            where layer = $layer
        )
        on pairs, change, gain, loss into name quantity value amount
    )
    select *, amount / nullif(sum(amount) over (partition by seq, effect, quantity), 0) as share
    from amount
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, effect, quantity and relation that occurs in the corpus."""
    layers = store.execute("select distinct layer from sequence_relation_change order by 1")
    frames = []
    for (layer,) in layers.fetchall():
        rows = store.execute(_SHARES, {"layer": layer}).df()
        of_both = ["effect", "quantity", "relation"]
        cells, sequences, shares = by_sequence(rows, cell=of_both, value="share")
        shares = _absent_as_zero(cells, shares)
        means = with_intervals(cells, shares, context.redraws(sequences))
        frames.append(means.assign(layer=layer))
    return rows_of(TABLE, frames)


def _absent_as_zero(cells: pd.DataFrame, shares: np.ndarray) -> np.ndarray:
    """Shares with 0 for relations a sequence lacks; NaN stays where there is nothing to share."""
    group = cells.groupby(["effect", "quantity"]).ngroup().to_numpy()
    same = (group[:, None] == group).astype(np.float64)
    shared = ~np.isnan(shares) @ same > 0
    return np.where(shared, np.nan_to_num(shares), np.nan)
