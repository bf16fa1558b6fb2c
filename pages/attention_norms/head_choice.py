"""Which head is looked at: a picker, or a click on a cell of a map of heads."""

import pandas as pd

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.findings import SPECIAL
from pages.ui.choices.pick import pick
from pages.ui.head.choice import Head, follow_head_click, pick_head
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.say import say


def follow_click(name: str) -> bool:
    """Choose the head that was clicked in a map of heads, before the picker is drawn.

    Returns:
        Whether one was clicked.
    """
    return follow_head_click(name)


def pick_layer() -> int:
    """A layer, from 1."""
    layers = range(1, int(open_store().run["n_layers"]) + 1)
    default, _ = _most_drawn()
    return pick("an_layer", say("attention_norms.layer"), layers, default=default, kind="select")


def pick_norms_head() -> Head:
    """A layer and a head, from 1."""
    return pick_head(
        say("attention_norms.head"), default=_most_drawn(), help=say("attention_norms.head_help")
    )


def _most_drawn() -> tuple[int, int]:
    """The head that gives most weight to one special type: where there is most to see."""
    found = pd.concat([ask(token_type_mixing.by_head, token_type=each) for each in SPECIAL])
    found = found[found["quantity"] == "attention"]
    if found.empty:
        return 1, 1
    most = found.nlargest(1, "mean").iloc[0]
    return int(most["layer"]), int(most["head"])
