"""Quantities on attention and norms, titles of their axes, and the order of token types."""

from collections.abc import Iterable

import pandas as pd

from pages.charts.colours import TOKEN_TYPE_COLOURS
from pages.words.say import say

QUANTITIES = ("attention", "value_norm", "weighted_norm")
_ORDER = tuple(TOKEN_TYPE_COLOURS)


def quantity_axis(quantity: str) -> str:
    """Axis title of a quantity: the number that is summed or averaged."""
    return say(f"norms.axis.{quantity}")


def ordered_types(types: Iterable[str]) -> list[str]:
    """Distinct token types, special ones first."""
    present = set(types)
    return [kind for kind in _ORDER if kind in present]


def in_type_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by layer, if there are layers, and then by token type, special ones first."""
    frame = frame.sort_values("token_type", key=lambda types: types.map(_ORDER.index))
    return frame.sort_values("layer", kind="stable") if "layer" in frame else frame
