"""Correlation of word frequency with mixing ratio."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.mixing.ratio_frequency_correlation import TABLE
from analysis.statistics.norms.frequency_correlation import IS_SPECIAL, frequency_rows
from analysis.statistics.rows import rows_of

VERSION = 2
NEEDS = ("token_mixing_ratio",)
_TOKENS = f"""
    select seq, any_value(block) as block, token_id, {IS_SPECIAL} as is_special, {{means}}
    from token_mixing_ratio
    join token using (seq, pos)
    join blocks using (seq)
    where not is_masked
    group by seq, pos, token_id, token_type
    order by seq, pos
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per source of frequencies, scope, and with or without special tokens."""
    scopes = context.order.of_ratios
    means = ", ".join(f"max(mean) filter (scope = '{scope}') as \"{scope}\"" for scope in scopes)
    rows = frequency_rows(store, _TOKENS.format(means=means), scopes, context, name="scope")
    return rows_of(TABLE, [rows] if len(rows) else [])
