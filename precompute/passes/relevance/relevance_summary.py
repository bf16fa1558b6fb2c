"""Means over sequences of what maps of relevance come to, with intervals."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.relevance.relevance_summary import GAINS, QUANTITIES, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_relevance",)
_CELL = ["layer", "head", "quantity"]
_GAINS = ", ".join(f"{share} - mask_chance as {name}" for name, share in GAINS.items())
_LONG = f"""
    unpivot (
        select seq, layer, head, columns(lambda name: list_contains($quantities, name))::double
        from (select *, {_GAINS} from sequence_relevance where rule = $rule)
    )
    on {", ".join(QUANTITIES)} into name quantity value mean
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per rule, layer, head (or their mean) and quantity that some sequence has."""
    rules = store.execute("select distinct rule from sequence_relevance order by all").fetchall()
    return rows_of(TABLE, [_means(store, rule, context) for (rule,) in rules])


def _means(store: DuckDBPyConnection, rule: str, context: FitContext) -> pd.DataFrame:
    rows = store.execute(_LONG, {"rule": rule, "quantities": list(QUANTITIES)}).df()
    cells, sequences, values = by_sequence(rows, cell=_CELL, value="mean")
    return with_intervals(cells, values, context.redraws(sequences)).assign(rule=rule)
