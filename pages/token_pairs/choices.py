"""Pickers of the page's sections, and selection of a pair by click."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from analysis.scopes import RELATIONS
from analysis.statistics.pairs.pair_ranking import RANKS
from analysis.statistics.sample import least_count
from pages.token_pairs.lists import DIRECTIONS
from pages.ui.choices.picker import choose
from pages.ui.store.open_file import Store
from pages.ui.view import View

PAIR = ("source", "target")
"""Fields that a click on a pair returns."""
_MOST_LEAST = 10_000
_ORDERS = {"both": "largest", **{direction: direction for direction in DIRECTIONS}}
_TEXTS = {"source": "source_text", "target": "target_text", "text": "text"}
"""Names of the pickers that search tokens; those of the selected pair are in use."""
_PICKERS: dict[str, Callable[[View], Any]] = {
    "layer": lambda view: view.pick("layer", view.store.layers, kind="slider"),
    "effect": lambda view: view.pick(
        "effect", list(view.store.layer_order.effects), default="ff", kind="select"
    ),
    "min_count": lambda view: view.number("least", *_least_counts(view.store)),
    "rank": lambda view: view.pick("rank", RANKS),
    "clear": lambda view: view.pick("clear", ["all", "only"]) == "only",
    "order": lambda view: _ORDERS[view.pick("direction", list(_ORDERS), kind="select")],
    **{name: partial(View.text, name=picker, hint="text_help") for name, picker in _TEXTS.items()},
    "relation": lambda view: view.pick("relation", ["all", *RELATIONS], kind="select"),
    "special": lambda view: view.pick("special", ["in", "out"]) == "in",
}


def _least_counts(store: Store) -> tuple[int, int, int]:
    """Lowest, highest and default minimum count of a list.

    The default is 2, or the lowest count of any pair in the file.
    """
    least = least_count(store.facts)
    return least, max(_MOST_LEAST, least), max(2, least)


def choice(view: View, name: str) -> Any:
    """Draw the picker of one query argument, by its name; return the value."""
    return _PICKERS[name](view)


def choices(view: View, *names: str) -> dict[str, Any]:
    """Draw the pickers of several query arguments in one row; return the values by name."""
    return {name: choice(view, name) for name in names}


def to_pair(pair: Mapping[Any, Any]) -> None:
    """Open the pair that was clicked."""
    choose("tp_view", "workbench")
    choose("tp_page", 1)
    for side in PAIR:
        choose(f"tp_{side}", pair[side])
