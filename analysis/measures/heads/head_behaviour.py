"""What a head mostly does, in one word."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

RULES = {
    "first": ("first", "token_type"),
    "next": ("next", "neighbour"),
    "previous": ("previous", "neighbour"),
    "broad": ("entropy", "entropy"),
    "cls": ("cls", "token_type"),
    "sep": ("sep", "token_type"),
    "comma_period": ("comma_period", "token_type"),
}
"""Of each behaviour the quantity that decides it and the threshold that it has to exceed; of those
that hold of a head the last one names it."""
OTHER = "other"
BEHAVIOURS = (*RULES, OTHER)


@dataclass(frozen=True)
class Thresholds:
    """Above which a head counts as one that looks at a neighbouring token, broadly (entropy in
    nats), or at one type of token."""

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
