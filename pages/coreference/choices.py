"""Pickers shared by the sections: a head, and how its attention to a word is measured."""

from typing import Any

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.probing import coreference_accuracy
from pages.coreference.names import type_name
from pages.ui.charts.standard import bars
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.picker import pick_head
from pages.ui.view import View
from pages.ui.words.numbers import count


def pick_way(view: View) -> dict[str, str]:
    """Let the reader pick the weighing of attention, and how tokens are merged into words."""
    return {"weighing": view.pick_weighing(), "merging": view.pick("merging", MERGINGS)}


def pick_best_head(view: View, choices: dict[str, str]) -> Head:
    """Let the reader pick a head; the default is the most accurate one over all mentions."""
    accuracies = view.ask(coreference_accuracy.of_type, mention_type="all", **choices)
    best = head_with_most(accuracies[accuracies["method"] == "head"], "accuracy")
    return pick_head(view, default=best)


def accuracy_bars(view: View, frame: pd.DataFrame, colours: dict[str, str]) -> Any:
    """Draw a group of bars per type of mention, with its number of mentions and intervals.

    Args:
        frame: rows mention_type, method (display names), n, accuracy, low, high.
        colours: of the methods, in the order of the bars.
    """
    most = frame.groupby("mention_type")["n"].max()  # of a rule that has no case n is 0
    labels = {
        kind: view.say("group", type=type_name(str(kind)), n=count(n)) for kind, n in most.items()
    }
    frame = frame.assign(type=frame["mention_type"].map(labels))
    return bars(
        frame,
        x="type",
        y="accuracy",
        colour="method",
        y_title=view.say("accuracy_axis"),
        order=list(dict.fromkeys(frame["type"])),
        colours=colours,
        domain=(0, 1),
        tick_format="%",
        tooltip=("n",),
        format=".1%",
        height=340,
    )
