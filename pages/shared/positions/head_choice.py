"""Which head is looked at: one picker that all sections on heads share, or a click in a chart."""

import streamlit as st

from analysis.tables import head_offset
from pages.shared.choices import choose, pick
from pages.shared.clicks import fresh_click
from pages.shared.store import ask, open_store
from pages.shared.words import say

_KEY = "po_head"


def head_name(layer: int, head: int) -> str:
    return say("attention_norms.head_name", layer=layer, head=head)


def follow_click(name: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    cells = [cell for part in fresh_click(name).values() for cell in part]
    for cell in cells[:1]:
        choose(_KEY, f"{int(cell['layer'])}-{int(cell['head'])}")


def pick_head() -> tuple[int, int]:
    """A layer and a head, from 1; in the address as `layer-head`."""
    run = open_store().run
    layers, heads = range(1, int(run["n_layers"]) + 1), range(1, int(run["n_heads"]) + 1)
    named = {f"{layer}-{head}": head_name(layer, head) for layer in layers for head in heads}
    chosen = pick(
        _KEY,
        say("positions_head.head"),
        list(named),
        default=_most_dependent(),
        format=named.__getitem__,
        kind="select",
        help=say("positions_head.head_help"),
    )
    layer, head = chosen.split("-")
    return int(layer), int(head)


def head_row() -> tuple[int, int]:
    """The picker, and beside it the way to the section on the head."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        layer, head = pick_head()
    right.button(
        say("positions_head.to_head", head=head_name(layer, head)),
        on_click=choose,
        args=("po_view", "one_head"),
    )
    return layer, head


def _most_dependent() -> str:
    """The head whose attention depends most on positions: where there is most to see."""
    heads = ask(head_offset.heads).dropna(subset="dependence")
    if heads.empty:
        return "1-1"
    most = heads.nlargest(1, "dependence").iloc[0]
    return f"{int(most['layer'])}-{int(most['head'])}"
