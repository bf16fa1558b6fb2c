"""Means over sequences of what each token type gets from each head, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import Redraws
from analysis.measures.norms.token_type_mixing import bootstrap_interval, sequence_means
from analysis.tables.norms.token_type_mixing import QUANTITIES, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 1
NEEDS = ("head_token",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head (or their mean), token type and quantity."""
    types, by_head = _sequence_values(store)
    by_layer = by_head.mean(axis=2, keepdims=True)
    drawn = context.redraws(np.arange(len(by_head)))
    rows = _rows(by_head, types, drawn, heads=list(range(1, by_head.shape[2] + 1)))
    rows += _rows(by_layer, types, drawn, heads=[None])
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _sequence_values(store: DuckDBPyConnection) -> tuple[list[str], np.ndarray]:
    """The token types there are, and sequence × layer × head × type × quantity.

    NaN where a sequence has no token of the type; every type there is occurs somewhere.
    """
    frame = store.execute(
        """
        select seq, layer, head, token_type,
            sum(attention_received::double) / any_value(n_tokens) as attention,
            avg(value_norm::double) as value_norm,
            sum(attention_received::double * value_norm) / any_value(n_tokens) as weighted_norm
        from head_token
        join sequence using (seq)
        group by seq, layer, head, token_type
        """
    ).df()
    types = sorted(frame["token_type"].unique())
    sizes = (frame["seq"].max() + 1, frame["layer"].max(), frame["head"].max(), len(types))
    values = np.full((*sizes, len(QUANTITIES)), np.nan)
    place = (
        frame["seq"].to_numpy(),
        frame["layer"].to_numpy() - 1,
        frame["head"].to_numpy() - 1,
        np.searchsorted(types, frame["token_type"].to_numpy().astype(str)),
    )
    values[place] = frame[list(QUANTITIES)].to_numpy()
    return types, values


def _rows(
    values: np.ndarray, types: list[str], drawn: Redraws, *, heads: list[int | None]
) -> list[dict]:
    """The table's rows from values shaped sequence × layer × head × type × quantity."""
    n_sequences, *shape = values.shape
    has_type = ~np.isnan(values)
    is_sum = np.array([name != "value_norm" for name in QUANTITIES])
    present = (has_type | is_sum).reshape(n_sequences, -1)
    flat = np.nan_to_num(values).reshape(n_sequences, -1)
    mean = sequence_means(flat, present, np.ones((1, n_sequences)))[0]
    low, high = bootstrap_interval(flat, present, drawn)
    n_present = has_type.sum(axis=0).ravel()
    return [
        {
            "layer": layer + 1,
            "head": heads[head],
            "token_type": types[token_type],
            "quantity": list(QUANTITIES)[quantity],
            "mean": mean[cell],
            "low": low[cell],
            "high": high[cell],
            "n_sequences": n_sequences,
            "n_present": int(n_present[cell]),
        }
        for cell, (layer, head, token_type, quantity) in enumerate(np.ndindex(*shape))
    ]
