"""Spearman's ρ between how frequent a token is and how much of it is context."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.mixing.ratio_frequency_correlation import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of
from precompute.passes.norms.frequency_rows import frequency_rows

VERSION = 1
NEEDS = ("token_mixing_ratio",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per source of frequencies, scope, and with or without special tokens."""
    ratios = store.execute(
        """
        select block, seq, pos, token_id, token_type::varchar as token_type,
            scope::varchar as scope, mean
        from token_mixing_ratio
        join token using (seq, pos)
        join blocks using (seq)
        where not is_masked
        """
    ).df()
    words = ["block", "seq", "pos", "token_id", "token_type"]
    tokens = ratios.pivot(index=words, columns="scope", values="mean").reset_index()
    rows = frequency_rows(tokens, context.order.of_ratios, context, name="scope")
    return rows_of(TABLE, [rows] if len(rows) else [])
