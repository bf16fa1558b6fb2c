"""Shares of relations in the mixing and in each step's change, as means with intervals."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.relation_share import mean_ratios
from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, by_block
from analysis.statistics.pairs.relation_share import BASELINE, TABLE
from analysis.statistics.rows import rows_of

VERSION = 2
NEEDS = ("sequence_relation_change",)
_SHARES = f"""
    with amount as (
        unpivot (
            select seq, effect, relation, n::double as pairs, before, change, gain,
                change - gain as loss
            from sequence_relation_change
            where layer = $layer
        )
        on pairs, before, change, gain, loss into name quantity value amount
    ),
    of_total as (
        select *, amount / nullif(sum(amount) over (partition by seq, effect, quantity), 0) as share
        from amount
    ),
    compared as (
        select *, max(share) filter (quantity = '{BASELINE}')
            over (partition by seq, effect, relation) as at_first
        from of_total
    )
    select seq, effect, quantity, relation, share, share + 0 * at_first as above,
        at_first + 0 * share as below
    from compared
"""
"""The share of each relation. Where the mixing before the step has a total, `above` repeats the
share, and `below` holds the relation's share before the step."""
_TOTALS = f"""
    select seq, effect, quantity, any_value(share) as share, any_value(above) as above
    from ({_SHARES})
    group by seq, effect, quantity
"""
"""Presence of a total in a sequence, NULL without one."""
_OF_TOTAL = ["effect", "quantity"]
_CELL = [*_OF_TOTAL, "relation"]


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, effect, quantity and relation that occurs in the corpus."""
    layers = store.execute("select distinct layer from sequence_relation_change order by 1")
    frames = []
    for (layer,) in layers.fetchall():
        asked = {"layer": layer}
        shares = _with_absent(store, "share", "share", asked)
        above, below = (_with_absent(store, value, "above", asked) for value in ("above", "below"))
        frame = shares.with_intervals(context)
        frames.append(frame.assign(layer=layer, **_ratios(above, below, context)))
    return rows_of(TABLE, frames)


def _with_absent(
    store: DuckDBPyConnection, value: str, counts: str, asked: dict[str, Any]
) -> BlockSums:
    """Sums of shares, 0 for relations that a sequence lacks; sequences without a total are out."""
    shares = by_block(store, _SHARES, cell=_CELL, value=value, asked=asked)
    sizes = by_block(store, _TOTALS, cell=_OF_TOTAL, value=counts, asked=asked)
    places = sizes.cells.assign(place=range(len(sizes.cells)))
    place = shares.cells.merge(places, on=_OF_TOTAL, how="left")["place"].to_numpy()
    return BlockSums(shares.cells, shares.blocks, shares.sums, sizes.counts[:, place])


def _ratios(above: BlockSums, below: BlockSums, context: FitContext) -> dict[str, pd.Series]:
    """Ratio of each cell's share to its relation's share of the mixing before, with intervals."""
    compared = np.flatnonzero(~above.cells["quantity"].isin(["pairs", BASELINE]))
    ratios = np.full((3, len(above.cells)), np.nan)
    over, under = (
        np.where(shares.counts > 0, shares.sums, np.nan)[:, compared] for shares in (above, below)
    )
    ratios[:, compared] = mean_ratios(over, under, context.redraws(above.blocks))
    names = ("ratio", "ratio_low", "ratio_high")
    return {name: pd.Series(values) for name, values in zip(names, ratios, strict=True)}
