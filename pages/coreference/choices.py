"""What is looked at: a type of mention, a way of merging word pieces, a head; and their names."""

import pandas as pd
import streamlit as st

from analysis.tables.annotation import MERGINGS
from analysis.tables.norms.weighing import WEIGHT
from analysis.tables.probing import coreference_accuracy
from analysis.tables.probing.coreference_prediction import MENTION_TYPES, METHODS
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.pick import choose, pick
from pages.ui.head.choice import Head, follow_head_click, head_name, pick_head
from pages.ui.store.chosen import ask
from pages.ui.words.say import say

_BLUE, _ORANGE, _GREEN, _, _GREY, _ = SERIES_COLOURS
COLOURS = dict(zip(METHODS, (_BLUE, _GREY, _ORANGE, _GREEN), strict=True))


def type_name(mention_type: str) -> str:
    return say(f"coreference.type_{mention_type}")


def method_name(method: str) -> str:
    return say(f"coreference.method_{method}")


def pick_merging() -> str:
    """How a word's attention is made of that of its pieces."""
    return pick(
        "co_merging",
        say("coreference.merging"),
        MERGINGS,
        default=MERGINGS[0],
        format=lambda each: say(f"coreference.merging_{each}"),
        help=say("coreference.merging_help"),
    )


def pick_type() -> str:
    """A type of mention that the corpus has, or all."""
    there = [each for each in MENTION_TYPES if not accuracies(each, MERGINGS[0], WEIGHT).empty]
    return pick(
        "co_type",
        say("coreference.type"),
        there,
        default=there[0],
        format=type_name,
        help=say("coreference.type_help"),
    )


def pick_antecedent_head(best: Head) -> Head:
    """A layer and a head, from 1; in the address as `layer-head`. Unless chosen, the best one."""
    return pick_head(say("coreference.head"), default=best, help=say("coreference.head_help"))


def follow_click(name: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    follow_head_click(name)


def accuracies(mention_type: str, merging: str, weighing: str) -> pd.DataFrame:
    """Every head and rule on one type of mention."""
    way = {"merging": merging, "weighing": weighing}
    return ask(coreference_accuracy.of_type, mention_type=mention_type, **way)


def best_head(merging: str, weighing: str) -> Head:
    """The head that is right most often over all mentions, the first of several."""
    found = accuracies("all", merging, weighing)
    best = found[found["method"] == "head"].nlargest(1, "accuracy").iloc[0]
    return int(best["layer"]), int(best["head"])


def to_documents(layer: int, head: int) -> None:
    """The way to the texts."""
    st.button(
        say("coreference.to_documents", head=head_name(layer, head)),
        on_click=choose,
        args=("co_view", "documents"),
    )
