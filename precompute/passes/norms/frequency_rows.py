"""Rank correlations of word frequency with what is known of every token, as fits store them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.measures.norms.frequency_correlation import frequency_ranks, rank_correlation
from precompute.passes.base import FitContext


def frequency_rows(
    tokens: pd.DataFrame, quantities: Sequence[str], context: FitContext, *, name: str
) -> pd.DataFrame:
    """One row per source of frequencies, with or without bos, cls and sep, and quantity.

    Args:
        tokens: block, token_id, token_type and the quantities of every token that is read, so not
            of masked places, which would pass for the commonest word.
        name: what the quantities are called in a row.

    Returns:
        No row where no token is left.
    """
    ranks = {"corpus": frequency_ranks(np.bincount(tokens["token_id"])), **context.frequency_ranks}
    is_special = tokens["token_type"].isin(["bos", "cls", "sep"])
    rows = [
        {"source": source, "special_tokens": special, name: quantity, **found}
        for source, ranking in ranks.items()
        for special in (True, False)
        for quantity in quantities
        for found in _found(tokens[special | ~is_special], quantity, ranking, context)
    ]
    return pd.DataFrame(rows)


def _found(
    tokens: pd.DataFrame, quantity: str, ranking: np.ndarray, context: FitContext
) -> list[dict]:
    if tokens.empty:
        return []
    present, blocks = np.unique(tokens["block"], return_inverse=True)
    values, drawn = tokens[quantity].to_numpy(dtype=np.float64), context.redraws(present)
    found = rank_correlation(ranking[tokens["token_id"]], values, blocks, drawn)
    values = zip(("spearman", "low", "high"), found or (np.nan,) * 3, strict=True)
    return [{"n": len(tokens), **dict(values)}]
