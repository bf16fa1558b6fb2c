"""Mean shares of the relations in what each step finds and changes, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import Redraws
from analysis.measures.pairs.relation_share import mean_ratios
from analysis.tables.pairs.relation_share import BASELINE, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 2
NEEDS = ("sequence_relation_change",)
_SHARES = """
    with amount as (
        unpivot (
            select seq, effect, relation, n::double as pairs, before, change, gain,
                change - gain as loss
            from sequence_relation_change
            where layer = $layer
        )
        on pairs, before, change, gain, loss into name quantity value amount
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
        drawn = context.redraws(sequences)
        cells = cells.assign(**_ratios(cells, shares, drawn))
        frames.append(with_intervals(cells, shares, drawn).assign(layer=layer))
    return rows_of(TABLE, frames)


def _ratios(cells: pd.DataFrame, shares: np.ndarray, drawn: Redraws) -> dict[str, np.ndarray]:
    """How each cell's share compares with the share that its relation has of the mixing before."""
    names = cells.reset_index(names="place")
    before = names[names["quantity"] == BASELINE][["effect", "relation", "place"]]
    of_cell = names.merge(before, on=["effect", "relation"], suffixes=("", "_before"))
    of_cell = of_cell[~of_cell["quantity"].isin(["pairs", BASELINE])]
    ratios = np.full((3, len(cells)), np.nan)
    ratios[:, of_cell["place"]] = mean_ratios(
        shares[:, of_cell["place"]], shares[:, of_cell["place_before"]], drawn
    )
    return dict(zip(("ratio", "ratio_low", "ratio_high"), ratios, strict=True))


def _absent_as_zero(cells: pd.DataFrame, shares: np.ndarray) -> np.ndarray:
    """Shares with 0 for relations a sequence lacks; NaN stays where there is nothing to share."""
    group = cells.groupby(["effect", "quantity"]).ngroup().to_numpy()
    same = (group[:, None] == group).astype(np.float64)
    shared = ~np.isnan(shares) @ same > 0
    return np.where(shared, np.nan_to_num(shares), np.nan)
