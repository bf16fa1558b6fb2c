"""Behaviour of each head in one word, by thresholds that the reader sets."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.statistics.heads import head_pattern
from analysis.statistics.weighing import WEIGHT

RULES = {
    "first": ("first", "token_type"),
    "next": ("next", "neighbour"),
    "previous": ("previous", "neighbour"),
    "broad": ("entropy", "entropy"),
    "cls": ("cls", "token_type"),
    "sep": ("sep", "token_type"),
    "comma_period": ("comma_period", "token_type"),
}
"""The deciding quantity of each behaviour and the threshold it must exceed; where several apply,
the last one names the head."""
OTHER = "other"
BEHAVIOURS = (*RULES, OTHER)
QUANTITIES = tuple(dict.fromkeys(quantity for quantity, _ in RULES.values()))


@dataclass(frozen=True)
class Thresholds:
    """Thresholds above which a head counts as attending to a neighbouring token, broadly (entropy
    in nats), or to one type of token."""

    neighbour: float
    entropy: float
    token_type: float


def head_behaviour(
    quantities: Mapping[str, Float[np.ndarray, " head"]], thresholds: Thresholds
) -> np.ndarray:
    """One of `BEHAVIOURS` for every head.

    Args:
        quantities: means by the names in `RULES`; NaN where a head has none, which exceeds nothing.

    Source:
        clark-2019, section 6: the order of the rules is that of the released code.

    Differs:
        `first`, attention to the first token of a causal model, is ours: BERT has no such token.
    """
    behaviours = np.full(len(quantities["entropy"]), OTHER, dtype=object)
    for name, (quantity, threshold) in RULES.items():
        behaviours[quantities[quantity] > getattr(thresholds, threshold)] = name
    return behaviours


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
