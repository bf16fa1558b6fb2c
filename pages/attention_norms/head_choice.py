"""Which head is looked at: two pickers, or a click on a cell of a map of heads."""

import pandas as pd
import streamlit as st

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.findings import SPECIAL
from pages.ui.choices.clicks import fresh_click
from pages.ui.choices.pick import choose, pick
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.say import say


def follow_click(name: str) -> bool:
    """Move the pickers to the cell that was clicked in a map of heads, before they are drawn."""
    cells = [cell for part in fresh_click(name).values() for cell in part]
    for cell in cells[:1]:
        choose("an_layer", int(cell["layer"]))
        choose("an_head", int(cell["head"]))
    return bool(cells)


def pick_layer() -> int:
    """A layer, from 1."""
    layers = range(1, int(open_store().run["n_layers"]) + 1)
    default, _ = _most_drawn()
    return pick("an_layer", say("attention_norms.layer"), layers, default=default, kind="select")


def pick_head() -> tuple[int, int]:
    """A layer and a head, from 1, side by side."""
    heads = range(1, int(open_store().run["n_heads"]) + 1)
    _, default = _most_drawn()
    left, right = st.columns(2)
    with left:
        layer = pick_layer()
    with right:
        head = pick("an_head", say("attention_norms.head"), heads, default=default, kind="select")
    return layer, head


def _most_drawn() -> tuple[int, int]:
    """The head that gives most weight to one special type: where there is most to see."""
    found = pd.concat([ask(token_type_mixing.by_head, token_type=each) for each in SPECIAL])
    found = found[found["quantity"] == "attention"]
    if found.empty:
        return 1, 1
    most = found.nlargest(1, "mean").iloc[0]
    return int(most["layer"]), int(most["head"])
