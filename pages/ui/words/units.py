"""Shares in other units: numbers and the names of their columns are converted together.

A converted column bears its unit before its name, and `columns.title` writes the unit behind its
title: a heading and its numbers cannot differ in unit.
"""

from collections.abc import Iterable

import pandas as pd

from pages.ui.words.say import say

PERCENT, POINTS = "percent", "points"
"""Of a share, and of a difference of shares."""
_PREFIXES = tuple(f"in_{unit}_" for unit in (PERCENT, POINTS))


def named_in(unit: str, column: str) -> str:
    """The name of a column once it is converted."""
    return f"in_{unit}_{column}"


def without_unit(column: str) -> str:
    """The name of a column before it was converted; its own if it was not."""
    return column.removeprefix(next(filter(column.startswith, _PREFIXES), ""))


def with_unit(title: str, unit: str) -> str:
    """A title with its unit."""
    return say(f"unit.{unit}", title=title)


def title_in_unit(column: str, title: str) -> str:
    """The title of a column, with the unit that it was converted to, if it was."""
    bare = without_unit(column)
    return title if bare == column else with_unit(title, column.split("_")[1])


def in_unit(frame: pd.DataFrame, unit: str, columns: Iterable[str]) -> pd.DataFrame:
    """The frame with some columns of shares, those that it has, converted and renamed."""
    names = {column: named_in(unit, column) for column in columns if column in frame}
    shown = frame.copy()
    for name in names:  # not by `assign`, which takes no column called self
        shown[name] = 100 * shown[name]
    return shown.rename(columns=names)
