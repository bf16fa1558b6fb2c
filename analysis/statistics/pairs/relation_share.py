"""Between which kinds of tokens a step changes the mixing."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.token_relation import mean_ratios
from analysis.needs import Need
from analysis.statistics.columns import named, number, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, by_block, make_table
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    EFFECT,
    LAYER,
    N_SEQUENCES,
    RELATION,
    SEQUENCE,
    Table,
    interval,
)

BASELINE = "before"
"""The quantity that shares of change are compared with."""
PER_SEQUENCE = Table(
    name="sequence_relation_change",
    grain="one row per sequence, layer, effect and relation that the sequence has",
    key=(SEQUENCE, LAYER, EFFECT, RELATION),
    values=(
        whole("n", "ordered pairs of two positions", "pairs"),
        number(
            "before",
            "the pair's share of the target's mixing before the step, summed over the pairs",
        ),
        number(
            "change",
            "|δ| summed over the pairs; δ is by how much the step changes the pair's share",
        ),
        number("gain", "δ summed over the pairs whose share grows"),
    ),
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=("n > 0", "before >= 0", "gain >= 0 and gain <= change"),
    order=("layer", "effect", "relation", "seq"),
    depends_on=(),
    version=2,
    requires=("layer_completeness",),
)
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
_OF_LAYER = "from shares_of_layer"
_TOTALS = f"""
    select seq, effect, quantity, any_value(share) as share, any_value(above) as above
    {_OF_LAYER}
    group by seq, effect, quantity
"""
"""Presence of a total in a sequence, NULL without one."""
_OF_TOTAL = ["effect", "quantity"]
_CELL = [*_OF_TOTAL, "relation"]


def _mean_shares(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Average the shares of every relation that occurs in the corpus."""
    layers = store.execute("select distinct layer from sequence_relation_change order by 1")
    frames = []
    for (layer,) in layers.fetchall():
        make_table(store, "shares_of_layer", _SHARES, {"layer": layer})
        of_shares, of_above = (
            by_block(store, _TOTALS, cell=_OF_TOTAL, value=value) for value in ("share", "above")
        )
        shares = _with_absent(store, "share", of_shares)
        above, below = (_with_absent(store, value, of_above) for value in ("above", "below"))
        frame = shares.with_intervals(context)
        frames.append(frame.assign(layer=layer, **_ratios(above, below, context)))
    return rows_of(table, frames)


def _with_absent(store: DuckDBPyConnection, value: str, totals: BlockSums) -> BlockSums:
    """Return sums of shares, with 0 for relations that a sequence lacks.

    Args:
        totals: count the sequences with a total, the only ones that count.
    """
    shares = by_block(store, _OF_LAYER, cell=_CELL, value=value)
    places = totals.cells.assign(place=range(len(totals.cells)))
    place = shares.cells.merge(places, on=_OF_TOTAL, how="left")["place"].to_numpy()
    return BlockSums(shares.cells, shares.blocks, shares.sums, totals.counts[:, place])


def _ratios(above: BlockSums, below: BlockSums, context: FitContext) -> dict[str, pd.Series]:
    """Return ratios of each cell's share to its relation's share before, with intervals."""
    compared = np.flatnonzero(~above.cells["quantity"].isin(["pairs", BASELINE]))
    ratios = np.full((3, len(above.cells)), np.nan)
    over, under = (
        np.where(shares.counts > 0, shares.sums, np.nan)[:, compared] for shares in (above, below)
    )
    ratios[:, compared] = mean_ratios(over, under, context.redraws(above.blocks))
    names = ("ratio", "ratio_low", "ratio_high")
    return {name: pd.Series(values) for name, values in zip(names, ratios, strict=True)}


TABLE = Table(
    name="relation_share",
    grain="one row per layer, effect, relation and quantity",
    key=(
        LAYER,
        EFFECT,
        RELATION,
        named(
            "quantity",
            "pairs (how many there are), before (the mixing before the step), change (|δ|), gain "
            "(δ above 0) or loss (δ below 0)",
        ),
    ),
    values=(
        number("mean", "mean over sequences of the relation's share of the sequence's total"),
        *interval("share"),
        N_SEQUENCES,
        number(
            "ratio",
            "mean over the mean share of the mixing before in the same sequences; NULL for pairs "
            "and before, and where there is no mixing before",
            "ratio",
            nullable=True,
        ),
        *interval("ratio", of="ratio"),
    ),
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=(
        "mean between 0 and 1 + 1e-9",
        "low <= high",
        "n_sequences > 0",
        "ratio is null or (ratio >= 0 and quantity not in ('pairs', 'before'))",
        "(ratio_low is null) = (ratio_high is null)",
        "ratio_low is null or (ratio is not null and ratio_low <= ratio_high)",
    ),
    depends_on=(),
    version=2,
    requires=("sequence_relation_change",),
    made_by=_mean_shares,
)
