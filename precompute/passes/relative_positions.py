"""Stored attention by relative position, as arrays."""

from typing import NamedTuple

import numpy as np
from duckdb import DuckDBPyConnection

from analysis.statistics.positions.relative_position_profile import REACH


class Profiles(NamedTuple):
    """Attention per token of every text, layer and head, by visible offset."""

    layer: np.ndarray
    head: np.ndarray
    values: np.ndarray
    offsets: np.ndarray


def stored_profiles(store: DuckDBPyConnection) -> Profiles:
    """Return the profiles by text, layer and head: of all texts, or of the file's sample."""
    rows = store.sql(
        """
        select layer, head, n_tokens, profile
        from kept.relative_position_profile
        order by seq, layer, head
        """
    ).to_arrow_table()
    lists = rows["profile"].combine_chunks()
    sums = lists.flatten().to_numpy(zero_copy_only=False)
    values = sums.reshape(-1, 2 * REACH + 1) / rows["n_tokens"].to_numpy()[:, None]
    there = ~np.isnan(values).any(axis=0)
    return Profiles(
        rows["layer"].to_numpy(),
        rows["head"].to_numpy(),
        values[:, there].astype(np.float64),
        np.arange(-REACH, REACH + 1)[there],
    )
