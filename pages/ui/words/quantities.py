"""The three quantities of the page and the token types of the chosen file, by name and in order."""

from collections.abc import Iterable

import pandas as pd

from analysis.tables.norms import token_type_mixing
from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.words.say import say

QUANTITIES = tuple(token_type_mixing.QUANTITIES)
_ORDER = tuple(reversed(TOKEN_TYPE_COLOURS))


def quantity_name(quantity: str) -> str:
    """The quantity as its symbol."""
    return say(f"attention_norms.column.{quantity}")


def quantity_axis(quantity: str) -> str:
    """The quantity as an axis tells it: what is summed or averaged."""
    return say(f"attention_norms.axis.{quantity}")


def ordered_types(types: Iterable[str]) -> list[str]:
    """Each of the token types once, special ones first."""
    present = set(types)
    return [kind for kind in _ORDER if kind in present]


def in_type_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows by layer, where there are layers, and then by token type, special ones first."""
    frame = frame.sort_values("token_type", key=lambda types: types.map(_ORDER.index))
    return frame.sort_values("layer", kind="stable") if "layer" in frame else frame
