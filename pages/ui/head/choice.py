"""Which head a page looks at: one picker that all its sections share, or a click in a chart."""

from pages.ui.choices.clicks import fresh_click
from pages.ui.choices.pick import choose, pick
from pages.ui.store.chosen import open_store
from pages.ui.words.say import say

Head = tuple[int, int]
"""A layer and a head, both from 1."""


def head_name(layer: int, head: int) -> str:
    """A head as every page calls it."""
    return say("attention_norms.head_name", layer=layer, head=head)


def pick_head(key: str, label: str, *, default: Head, help: str) -> Head:
    """A picker of layer and head.

    Args:
        key: of the choice in the address, where it stands as `layer-head`.
        help: a text as `pick` takes it.
    """
    run = open_store().run
    layers, heads = range(1, int(run["n_layers"]) + 1), range(1, int(run["n_heads"]) + 1)
    named = {_told(layer, head): head_name(layer, head) for layer in layers for head in heads}
    chosen = pick(
        key,
        label,
        list(named),
        default=_told(*default),
        format=named.__getitem__,
        kind="select",
        help=help,
    )
    layer, head = chosen.split("-")
    return int(layer), int(head)


def choose_head(key: str, layer: int, head: int) -> None:
    """Choose a head before its picker is drawn."""
    choose(key, _told(layer, head))


def follow_head_click(name: str, *, key: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    marks = [mark for part in fresh_click(name).values() for mark in part]
    for mark in marks[:1]:
        choose_head(key, int(mark["layer"]), int(mark["head"]))


def _told(layer: int, head: int) -> str:
    return f"{layer}-{head}"
