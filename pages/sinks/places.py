"""Which tokens are looked at, and names and colours of what they get."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from analysis.sinks import FIRST, FIRST_CONTENT
from analysis.tables.sinks import sink
from pages.ui.charts.colours import PLACE_COLOURS
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.say import say

OPENING = ("bos", "cls")
"""Types of the token that opens a sequence, where one does."""


def places() -> list[str]:
    """The places that some sequence has, in the order in which they are told."""
    present = set(ask(sink.places)["place"])
    return [place for place in PLACE_COLOURS if place in present]


def usual_place() -> str:
    """Where attention is known to rest: on the token that opens a sequence."""
    present = places()
    return next((place for place in OPENING if place in present), FIRST)


def pick_place(view: View) -> str:
    """The tokens that a section is about."""
    return view.pick("place", places(), default=usual_place(), kind="select")


def distinct(names: Iterable[str]) -> list[str]:
    """Places in their order, but for the rest, of which most tokens are, and for one of two that
    are always the same token: the first of all, or the first of no special type."""
    known = set(names)
    left_out = {"other", FIRST if known & set(OPENING) else FIRST_CONTENT}
    return [place for place in PLACE_COLOURS if place in known and place not in left_out]


def as_series(
    view: View, frame: pd.DataFrame, colours: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of some quantities under names that a reader sees, and how charts draw their means:
    in the colour of each."""
    names = {quantity: view.say(f"series_{quantity}") for quantity in colours}
    shown = frame[frame["quantity"].isin(colours)]
    named = {names[quantity]: colour for quantity, colour in colours.items()}
    drawn = {"y": "mean", "colour": "quantity", "colour_title": " ", "colours": named}
    return shown.assign(quantity=shown["quantity"].map(names)), drawn


def depth_name(depth: int) -> str:
    """Where hidden states stand that have gone through so many layers."""
    return say("sinks.depth_after", layer=depth) if depth else say("sinks.depth_first")
