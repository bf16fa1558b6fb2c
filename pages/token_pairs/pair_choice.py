"""What the sections of the page have to choose, and how a click anywhere chooses a pair."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.scopes import RELATIONS
from pages.ui.choices.clicks import clickable, fresh_click, remember
from pages.ui.choices.pick import choose, pick, pick_number
from pages.ui.figure import table
from pages.ui.store.chosen import layer_order, open_store
from pages.ui.words.names import effect_name, relation_name
from pages.ui.words.say import say

ROW = "row"
DEFAULT_EFFECT = "ff"
_DEFAULT_LEAST = 2
_MOST_LEAST = 10_000
_SHOWN = "tp_shown"
_ANY = "all"


def pick_effect() -> str:
    """One of the steps of a layer."""
    return pick(
        "tp_effect",
        say("token_pairs.effect"),
        list(layer_order().effects),
        default=DEFAULT_EFFECT,
        format=effect_name,
        kind="select",
        help=say("token_pairs.effect_help"),
    )


def pick_layer() -> int:
    """A layer, from 1."""
    layers = range(1, int(open_store().run["n_layers"]) + 1)
    return pick("tp_layer", say("token_pairs.layer"), layers, default=1, kind="select")


def pick_least() -> int:
    """How often a pair has to occur to be listed."""
    return pick_number(
        "tp_least",
        say("token_pairs.least"),
        1,
        _MOST_LEAST,
        _DEFAULT_LEAST,
        help=say("token_pairs.least_help"),
    )


def pick_special() -> bool:
    """Whether pairs with a special token are listed."""
    chosen = pick(
        "tp_special",
        say("token_pairs.special"),
        ["in", "out"],
        default="in",
        format=lambda each: say(f"token_pairs.special_{each}"),
        kind="select",
        help=say("token_pairs.special_help"),
    )
    return chosen == "in"


def pick_relation() -> str:
    """One relation between the two tokens, or `all`."""
    return pick(
        "tp_relation",
        say("token_pairs.relation"),
        [_ANY, *RELATIONS],
        default=_ANY,
        format=_relation_name,
        kind="select",
        help=say("token_pairs.relation_help"),
    )


def _relation_name(relation: str) -> str:
    return say("token_pairs.relation_all") if relation == _ANY else relation_name(relation)


def follow_clicks() -> None:
    """Open the pair that was clicked in a chart or a table of the last run, if one was."""
    for name, pairs in st.session_state.get(_SHOWN, {}).items():
        for row in _rows(fresh_click(name)):
            if row < len(pairs):
                source, target = pairs[row]
                choose("tp_view", "pair")
                choose("tp_source", source)
                choose("tp_target", target)


def clickable_chart(chart: Any, name: str, *, frame: pd.DataFrame, **told: Any) -> None:
    """A chart of pairs with a selection of the field `ROW`, the place of a pair in the frame."""
    clickable(chart, name, frame=frame, **told)
    _note(name, frame)


def clickable_table(name: str, frame: pd.DataFrame, *, key: str, **options: Any) -> None:
    """A table of pairs; a click on a row opens its pair."""
    event = table(frame, key=key, on_select="rerun", selection_mode="single-row", **options)
    remember(name, key, event)
    _note(name, frame)


def _rows(selection: dict[str, list[Any]]) -> list[int]:
    """Rows of a table, or of a chart's selection."""
    found = [each for part in selection.values() for each in part]
    return [int(each[ROW] if isinstance(each, dict) else each) for each in found[:1]]


def _note(name: str, frame: pd.DataFrame) -> None:
    pairs = list(zip(frame["source"], frame["target"], strict=True))
    st.session_state.setdefault(_SHOWN, {})[name] = pairs
