"""Picker of the head that all pages share."""

from itertools import product

from pages.kit.address import Choice
from pages.kit.head_choice import HEAD, Head, short_name
from pages.kit.items import Control, Picked
from pages.kit.view import View
from pages.services.open_file import Store
from pages.words.say import say

_BEST = "best"


def pick_head(view: View, *, default: Head, best: str = "") -> Head:
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
