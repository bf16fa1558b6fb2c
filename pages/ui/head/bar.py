"""Head picker in the bar of every page, with its neighbours and its drawer."""

from itertools import product

import streamlit as st

from pages.ui.choices.address import asked
from pages.ui.choices.pick import pick
from pages.ui.head.choice import (
    HEAD,
    Head,
    choose_head,
    follow_head_click,
    read_old_links,
    short_name,
)
from pages.ui.head.drawer import open_drawer
from pages.ui.stage import Picked, stage
from pages.ui.store.chosen import layers, open_store
from pages.ui.view import View
from pages.ui.words.say import say

_BEST = "best"


def pick_head(label: str, *, default: Head, help: str, best: str = "") -> Head:
    """Let the reader pick a layer and head; draw buttons to its neighbours and to its drawer.

    Args:
        help: a text as `pick` takes it.
        best: the label of an option that stands for the default, whichever head that is.
    """
    read_old_links()
    usual = "{}-{}".format(*default)
    named = {f"{layer}-{head}": short_name(layer, head) for layer, head in every_head()}
    options = {_BEST: best, **named} if best else named
    with stage().bar():
        chosen = pick(
            HEAD,
            label,
            list(options),
            default=_BEST if best else usual,
            format=options.__getitem__,
            kind="select",
            help=help,
            in_bar=True,
        )
        chosen = usual if chosen == _BEST else chosen
        stage().pick(HEAD, Picked(HEAD, say("head_card.head"), named, chosen))
        layer, head = map(int, chosen.split("-"))
        if not stage().is_unseen:
            _step("‹", "before", (layer, head), -1)
            _step("›", "after", (layer, head), 1)
            label, help = say("head_card.open"), say("head_card.open_help")
            if st.button(label, key="head_drawer", help=help, type="tertiary"):
                open_drawer(layer, head)
    return layer, head


def clicked_head(view: View, *charts: str, default: Head) -> Head:
    """Return the head to mark in charts: the one clicked there or chosen in the bar.

    The picker takes the words `head` and `head_help`.

    Args:
        charts: names of the figures whose clicks choose a head.
    """
    for name in charts:
        follow_head_click(view.key(name))
    return pick_head(view.say("head"), default=default, help=view.say("head_help"))


def keep_head() -> None:
    """Draw the previously chosen head in the bar of a section that needs none."""
    if stage().has_bar and asked(HEAD):
        pick_head(say("head_card.head"), default=every_head()[0], help=say("head_card.head_help"))


def every_head() -> list[Head]:
    """Heads of the chosen file's model, layer by layer."""
    return list(product(layers(), range(1, int(open_store().run["n_heads"]) + 1)))


def _step(sign: str, name: str, head: Head, by: int) -> None:
    """Draw a button to a neighbouring head; after the last of a layer, the first of the next."""
    heads = every_head()
    place = heads.index(head) + by if head in heads else -1
    there = 0 <= place < len(heads)
    beside = heads[place] if there else head
    help = say(f"head_card.{name}")
    st.button(
        sign, key=f"head_{name}", help=help, on_click=choose_head, args=beside, disabled=not there
    )
