"""Behaviour of a head in one word, from the shares of attention it gives."""

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
"""The deciding quantity of each behaviour and the threshold it must exceed; where several apply,
the last one names the head."""
OTHER = "other"
BEHAVIOURS = (*RULES, OTHER)


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
