"""Head picker in the bar of every page, with its neighbours and its drawer."""

from itertools import product

import streamlit as st

from pages.ui.choices.address import Choice
from pages.ui.head.choice import HEAD, Head, choose_head, short_name
from pages.ui.head.drawer import open_drawer
from pages.ui.items import Control, Picked
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.say import say

_BEST = "best"


def pick_head(view: View, *, default: Head, help: str = "", best: str = "") -> Head:
    """Let the reader pick a layer and head; add buttons to its neighbours and to its drawer.

    Args:
        help: the word `head_help` if empty.
        best: the label of an option that stands for the default, whichever head that is.
    """
    usual = "{}-{}".format(*default)
    named = {f"{layer}-{head}": short_name(layer, head) for layer, head in every_head(view.store)}
    options = {_BEST: best, **named} if best else named
    hidden = {"label_visibility": "collapsed"}
    label, help = say("head_card.head"), help or view.say("head_help")
    with view.place("bar"):
        view.add(Control(HEAD, label, "select", options, help, hidden))
        chosen = view.choices.value(Choice(HEAD, list(options), _BEST if best else usual))
        chosen = usual if chosen == _BEST else chosen
        view.know(HEAD, Picked(HEAD, label, named, chosen))
        layer, head = map(int, chosen.split("-"))
        _step(view, "‹", "before", (layer, head), -1)
        _step(view, "›", "after", (layer, head), 1)
        label, help = say("head_card.open"), say("head_card.open_help")
        view.draw(_drawer_button, view, label, help, (layer, head))
    return layer, head


def _drawer_button(inquiry: Inquiry, label: str, help: str, head: Head) -> None:
    if st.button(label, key="head_drawer", help=help, type="tertiary"):
        open_drawer(inquiry, *head)


def keep_head(view: View) -> None:
    """Keep the previously chosen head in the bar of a section that needs none."""
    if HEAD not in view.picked and view.choices.asked(HEAD):
        pick_head(view, default=every_head(view.store)[0], help=say("head_card.head_help"))


def every_head(store: Store) -> list[Head]:
    """Heads of the chosen file's model, layer by layer."""
    return list(product(store.layers, range(1, int(store.run["n_heads"]) + 1)))


def _step(view: View, sign: str, name: str, head: Head, by: int) -> None:
    """Add a button to a neighbouring head; after the last of a layer, the first of the next."""
    heads = every_head(view.store)
    place = heads.index(head) + by if head in heads else -1
    there = 0 <= place < len(heads)
    beside = heads[place] if there else head
    help = say(f"head_card.{name}")
    key = f"head_{name}"
    view.button(sign, choose_head, *beside, key=key, help=help, disabled=not there)
