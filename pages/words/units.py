"""Conversion of shares to other units, of numbers and column names together.

The name of a converted column begins with its unit, and `columns.title` appends the unit to its
title: a heading and its numbers cannot differ in unit.
"""

from collections.abc import Iterable

import pandas as pd

from pages.words.say import say

PERCENT, POINTS = "percent", "points"
"""Units of a share, and of a difference of shares."""
_PREFIXES = tuple(f"in_{unit}_" for unit in (PERCENT, POINTS))


def named_in(unit: str, column: str) -> str:
    """Name of a column after conversion."""
    return f"in_{unit}_{column}"


def without_unit(column: str) -> str:
    """Name of a column before conversion; its own if it was not converted."""
    return column.removeprefix(next(filter(column.startswith, _PREFIXES), ""))


def with_unit(title: str, unit: str) -> str:
    """Title with its unit."""
    return say(f"unit.{unit}", title=title)


def title_in_unit(column: str, title: str) -> str:
    """Title of a column, with the unit that it was converted to, if any."""
    bare = without_unit(column)
    return title if bare == column else with_unit(title, column.split("_")[1])


def in_unit(frame: pd.DataFrame, unit: str, columns: Iterable[str]) -> pd.DataFrame:
    """Convert columns of shares, those that the frame has, and rename them."""
    names = {column: named_in(unit, column) for column in columns if column in frame}
    shown = frame.copy()
    for name in names:  # not by `assign`, which takes no column called self
        shown[name] = 100 * shown[name]
    return shown.rename(columns=names)
