"""Choice of a head, shared by all pages, by a picker or by a click in a chart."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from pages.kit.address import Choice, asked, choose, write
from pages.kit.items import Control, Picked
from pages.services.open_file import Store
from pages.words.say import say

if TYPE_CHECKING:
    from pages.kit.view import View

Head = tuple[int, int]
"""A layer and a head, both from 1."""
HEAD = "head"
"""The head in the address of every page, as `layer-head`."""
_BEST = "best"
HALF, MERGING, MIN_WORDS = "first", "mean", 30
"""Of a fact on the best head of a question: the part of the texts on which it is chosen, to be
scored on the other, how pieces are merged, and the least number of words."""
_BEFORE = ("hh_head", "hm_head", "sy_head", "co_head", "po_head")
_BEFORE_IN_TWO = ("an_layer", "an_head")


def head_name(layer: int, head: int) -> str:
    """Display name of a head."""
    return say("norms.head_name", layer=layer, head=head)


def head_of(row: Mapping[Any, Any] | pd.Series, suffix: str = "") -> str:
    """Display name of the head of a row, from its columns layer and head with a suffix."""
    return head_name(int(row[f"layer{suffix}"]), int(row[f"head{suffix}"]))


def short_name(layer: object, head: object) -> str:
    """Short display name of a head."""
    return f"L{layer}·H{head}"


def head_with_most(frame: pd.DataFrame, column: str) -> Head:
    """Head with the largest value in a column; the first head if all are missing."""
    most = frame.dropna(subset=column).nlargest(1, column)[["layer", "head"]].astype(int)
    return next(most.itertuples(index=False, name=None), (1, 1))


def row_of(frame: pd.DataFrame, layer: int, head: int) -> pd.Series | None:
    """Row of a head; None if it has none."""
    rows = frame[(frame["layer"] == layer) & (frame["head"] == head)]
    return None if rows.empty else rows.iloc[0]


def pick_head(view: "View", *, default: Head, best: str = "") -> Head:
    """Let the reader pick a layer and head.

    Args:
        best: the label of an option that stands for the default, whichever head that is.
    """
    usual = "{}-{}".format(*default)
    named = {f"{layer}-{head}": short_name(layer, head) for layer, head in every_head(view.store)}
    options = {_BEST: best, **named} if best else named
    label = say("head_picker.head")
    control = Control(HEAD, label, "select", options, view.say("head_help"))
    chosen = view.value(Choice(HEAD, list(options), _BEST if best else usual), control)
    chosen = usual if chosen == _BEST else chosen
    view.know(HEAD, Picked(HEAD, label, named, chosen))
    layer, head = map(int, chosen.split("-"))
    return layer, head


def every_head(store: Store) -> list[Head]:
    """Heads of the chosen file's model, layer by layer."""
    return list(product(store.layers, range(1, int(store.run["n_heads"]) + 1)))


def choose_head(layer: int, head: int) -> None:
    """Choose a head before its picker is drawn."""
    choose(HEAD, f"{layer}-{head}")


def read_old_links() -> None:
    """Convert links of earlier versions, with a head by page or in two parts."""
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
