"""Summary quantities of a relevance map: names, meanings and number formats."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from analysis.statistics.relevance.relevance_summary import GAINS
from pages.ui.words.interval import ends
from pages.ui.words.numbers import percent, points, signed
from pages.ui.words.say import say

QUANTITIES = (
    "mask_share",
    "mask_gain",
    "pointing",
    "pointing_gain",
    "cls_share",
    "special_share",
    "top5_share",
    "evenness",
    "entropy",
)
"""Quantities in the order of the picker; those that need a mask come first."""
CHANCE = {share: gain for gain, share in GAINS.items()}
"""Gain over chance, by the share that has a chance level."""
_NATS = "entropy"


def quantity_name(quantity: str) -> str:
    return say(f"relevance.quantities.{quantity}")


def quantity_axis(quantity: str) -> str:
    """Name of a quantity with its unit."""
    name = quantity_name(quantity)
    return say("relevance.quantities.in_nats", name=name) if quantity == _NATS else name


def number_format(quantity: str) -> str:
    """Format of a quantity's values in charts."""
    if quantity == _NATS:
        return ".3f"
    return "+.1%" if quantity in GAINS else ".1%"


def axis_format(quantity: str) -> str:
    """Format of a quantity's values on axes; `~` drops trailing zeros."""
    return ".2~f" if quantity == _NATS else ".1~%"


def written(quantity: str, value: float) -> str:
    """Format a value for sentences."""
    if quantity == _NATS:
        return say("relevance.quantities.nats", value=f"{value:.2f}")
    if quantity in GAINS:
        return say("relevance.quantities.points", value=points(value, digits=1))
    return percent(value, digits=1)


def with_interval(quantity: str, row: Mapping[Hashable, Any]) -> str:
    """Format the mean of a row with its interval, or with the reason why it has none."""
    times, digits = (1, 2) if quantity == _NATS else (100, 1)
    low, high = (times * row[end] for end in ("low", "high"))
    return f"{written(quantity, row['mean'])} [{ends(low, high, partial(signed, digits=digits))}]"
