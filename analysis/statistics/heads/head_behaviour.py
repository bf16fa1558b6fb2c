"""Behaviour of each head, by thresholds that the reader sets; a query on `head_pattern`."""

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_behaviour import (
    BEHAVIOURS,
    OTHER,
    RULES,
    Thresholds,
    head_behaviour,
)
from analysis.statistics.heads import head_pattern
from analysis.statistics.norms.weighing import WEIGHT

__all__ = ["BEHAVIOURS", "OTHER", "QUANTITIES", "Thresholds", "behaviours"]

QUANTITIES = tuple(dict.fromkeys(quantity for quantity, _ in RULES.values()))


def behaviours(
    store: DuckDBPyConnection,
    *,
    neighbour: float,
    entropy: float,
    token_type: float,
    weighing: str = WEIGHT,
    by: str = "mean",
) -> pd.DataFrame:
    """Each head with its main behaviour.

    Args:
        neighbour: threshold of attention to the next or the previous token.
        entropy: threshold in nats above which a head attends broadly.
        token_type: threshold of attention to one type of token.
        by: the number compared with them: mean, or an end of its interval, low or high.

    Returns:
        layer, head, behaviour, and the quantities that decide it, missing where a head has none.
    """
    means = head_pattern.heads(store, weighing=weighing)
    wide = means.pivot(index=["layer", "head"], columns="quantity", values=by)
    heads = wide.reindex(columns=list(QUANTITIES)).reset_index()
    quantities = {name: heads[name].to_numpy(dtype=np.float64) for name in QUANTITIES}
    thresholds = Thresholds(neighbour, entropy, token_type)
    return heads[["layer", "head", *QUANTITIES]].assign(
        behaviour=head_behaviour(quantities, thresholds)
    )
