"""Correlation of word frequency with attention received and norm of the transformed vector."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.norms.frequency_correlation import TABLE
from analysis.statistics.norms.frequency_rows import IS_SPECIAL, frequency_rows
from analysis.statistics.rows import rows_of

VERSION = 3
NEEDS = ("head_token",)
_QUANTITIES = ("attention", "value_norm")
_TOKENS = f"""
    select seq, any_value(block) as block, token_id, {IS_SPECIAL} as is_special,
        avg(attention_received::double / n_tokens) as attention,
        avg(value_norm::double) as value_norm
    from head_token
    join token using (seq, pos, token_type)
    join sequence using (seq)
    join blocks using (seq)
    where not is_masked
    group by seq, pos, token_id, token_type
    order by seq, pos
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per source of frequencies, quantity, and with or without special tokens.

    Masked places have no row, but attend: their weights count in the attention that words receive.
    """
    rows = frequency_rows(store, _TOKENS, _QUANTITIES, context, name="quantity")
    return rows_of(TABLE, [rows] if len(rows) else [])
