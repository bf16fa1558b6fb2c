"""Which head is looked at: one choice for all pages, made by a picker or by a click in a chart."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pages.ui.choices.address import asked, write
from pages.ui.choices.clicks import fresh_click
from pages.ui.choices.pick import choose
from pages.ui.words.say import say

Head = tuple[int, int]
"""A layer and a head, both from 1."""
HEAD = "head"
"""The head in the address of every page, as `layer-head`."""
_BEFORE = ("hh_head", "hm_head", "sy_head", "co_head", "po_head")
_BEFORE_IN_TWO = ("an_layer", "an_head")


def head_name(layer: int, head: int) -> str:
    """A head as every page calls it."""
    return say("attention_norms.head_name", layer=layer, head=head)


def head_of(row: Mapping[Any, Any] | pd.Series, suffix: str = "") -> str:
    """The head of a row, by its columns layer and head with a suffix."""
    return head_name(int(row[f"layer{suffix}"]), int(row[f"head{suffix}"]))


def head_names(frame: pd.DataFrame, suffix: str = "") -> list[str]:
    """The heads of all rows, from the columns layer and head with a suffix."""
    return [head_of(row, suffix) for row in frame.to_dict("records")]


def short_name(layer: int, head: int) -> str:
    """A head where there is little room."""
    return f"L{layer}·H{head}"


def head_with_most(frame: pd.DataFrame, column: str) -> Head:
    """The head in whose row a column is largest; the first head where that is nowhere known."""
    most = frame.dropna(subset=column).nlargest(1, column)[["layer", "head"]].astype(int)
    return next(most.itertuples(index=False, name=None), (1, 1))


def row_of(frame: pd.DataFrame, layer: int, head: int) -> pd.Series | None:
    """The row of a head; nothing where there is none."""
    rows = frame[(frame["layer"] == layer) & (frame["head"] == head)]
    return None if rows.empty else rows.iloc[0]


def choose_head(layer: int, head: int) -> None:
    """Choose a head before its picker is drawn."""
    choose(HEAD, f"{layer}-{head}")


def follow_head_click(name: str) -> bool:
    """Choose the head that was clicked in a chart, before the picker is drawn.

    Returns:
        Whether one was clicked.
    """
    marks = fresh_click(name)
    for mark in marks[:1]:
        choose_head(int(mark["layer"]), int(mark["head"]))
    return bool(marks)


def read_old_links() -> None:
    """Links of earlier versions have a head under a name of its page, or in two parts."""
    if asked(HEAD):
        return
    parts = [asked(key) for key in _BEFORE_IN_TWO]
    heads = [names[0] for key in _BEFORE if (names := asked(key))]
    if all(parts):
        heads.append("-".join(part[0] for part in parts))
    if heads:
        write(HEAD, heads[:1])
    for parameter in (*_BEFORE, _BEFORE_IN_TWO[1]):
        if asked(parameter):
            write(parameter, ())
