"""Spearman's ρ between how frequent a token is and what heads do with it."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.frequency_correlation import frequency_ranks, rank_correlation
from analysis.tables.frequency_correlation import TABLE
from precompute.intervals import rows_of
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("head_token",)
_QUANTITIES = ("attention", "value_norm")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per source of frequencies, quantity, and with or without cls and sep."""
    tokens = store.execute(
        """
        select seq, pos, token_id, token_type,
            avg(attention_received::double / n_tokens) as attention,
            avg(value_norm::double) as value_norm
        from head_token
        join token using (seq, pos, token_type)
        join sequence using (seq)
        group by seq, pos, token_id, token_type
        order by seq, pos
        """
    ).df()
    ranks = {"corpus": frequency_ranks(np.bincount(tokens["token_id"])), **context.frequency_ranks}
    is_special = tokens["token_type"].isin(["cls", "sep"])
    rows = [
        row
        for source, ranking in ranks.items()
        for special in (True, False)
        for row in _rows(tokens[special | ~is_special], source, ranking, special, context)
    ]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _rows(
    tokens: pd.DataFrame, source: str, ranking: np.ndarray, special: bool, context: FitContext
) -> list[dict]:
    """One row per quantity, none where no token is left."""
    if tokens.empty:
        return []
    present, sequences = np.unique(tokens["seq"], return_inverse=True)
    drawn = context.redraws(present)
    found = {
        name: rank_correlation(
            ranking[tokens["token_id"]], tokens[name].to_numpy(), sequences, drawn
        )
        for name in _QUANTITIES
    }
    return [
        {
            "source": source,
            "quantity": name,
            "special_tokens": special,
            "n": len(tokens),
            **dict(zip(("spearman", "low", "high"), correlation or (np.nan,) * 3, strict=True)),
        }
        for name, correlation in found.items()
    ]
