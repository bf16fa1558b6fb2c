"""Choice of a place, such as the opening token, with the names and colours of its quantities."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from analysis.sinks import FIRST, FIRST_CONTENT
from analysis.statistics.sinks import sink
from pages.ui.charts.colours import PLACE_COLOURS
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View

OPENING = ("bos", "cls")
"""Special types of a token that opens sequences."""


def places(inquiry: Inquiry) -> list[str]:
    """Places that some sequence has, in the order of `PLACE_COLOURS`."""
    present = set(inquiry.ask(sink.places)["place"])
    return [place for place in PLACE_COLOURS if place in present]


def usual_place(inquiry: Inquiry) -> str:
    """Default place: the token that opens a sequence, the usual attention sink."""
    present = places(inquiry)
    return next((place for place in OPENING if place in present), FIRST)


def pick_place(view: View) -> str:
    """Let the reader pick a place."""
    return view.pick("place", places(view), default=usual_place(view), kind="select")


def distinct(names: Iterable[str]) -> list[str]:
    """Places in their order, without those that add nothing.

    Left out are `other`, which holds most tokens, and one of two places that are always the same
    token: the first of all, or the first without a special type.
    """
    known = set(names)
    left_out = {"other", FIRST if known & set(OPENING) else FIRST_CONTENT}
    return [place for place in PLACE_COLOURS if place in known and place not in left_out]


def as_series(
    view: View, frame: pd.DataFrame, colours: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows of some quantities under display names, with arguments of `lines` for their colours."""
    names = {quantity: view.say(f"series_{quantity}") for quantity in colours}
    shown = frame[frame["quantity"].isin(colours)]
    named = {names[quantity]: colour for quantity, colour in colours.items()}
    drawn = {"y": "mean", "colour": "quantity", "colour_title": " ", "colours": named}
    return shown.assign(quantity=shown["quantity"].map(names)), drawn
