"""Accuracy of every head: the mention that it attends to most is an antecedent."""

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.probing import coreference_accuracy
from analysis.statistics.probing.coreference_accuracy import BASELINES, MENTION_TYPES
from pages.coreference.choices import pick_best_head, pick_way
from pages.coreference.names import accuracy_of, method_name, type_name
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map_of_heads
from pages.ui.head.choice import head_name, head_of, to_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say


@section("heads", coreference_accuracy.TABLE)
def heads(view: View) -> None:
    choices = pick_way(view)
    kind = view.pick("type", _types(view))
    accuracies = view.ask(coreference_accuracy.of_type, mention_type=kind, **choices)
    every = accuracies[accuracies["method"] == "head"].astype({"layer": "int64", "head": "int64"})
    rules = accuracies.set_index("method").loc[list(BASELINES), "accuracy"]
    view.finding(_finding(view, every, rules, kind))
    head = pick_best_head(view, choices)
    chart = number_map_of_heads(
        every,
        "accuracy",
        tooltip=("low", "high"),
        colours=Ramp(LOW_TO_HIGH, 0.0, 1.0),
        format=".0%",
        marked=head,
    )
    state = (kind, *choices.values(), *head)
    view.figure("map", every, chart, state=state, click=to_head, type=type_name(kind))
    view.to_section("documents", head=head_name(*head))
    shown = every.sort_values("accuracy", ascending=False)
    gains = {f"more_than_{rule}": shown["accuracy"] - share for rule, share in rules.items()}
    columns: dict[str, str | None] = dict.fromkeys(("layer", "head", "n"))
    columns |= dict.fromkeys(("accuracy", "low", "high", *gains), "percent")
    view.table("table", shown.assign(**gains), columns, state=(kind, *choices.values()))


def _types(inquiry: Inquiry) -> list[str]:
    """All mentions, and the types of mention in the corpus."""
    return [
        kind
        for kind in MENTION_TYPES
        if len(inquiry.ask(coreference_accuracy.of_type, mention_type=kind, merging=MERGINGS[0]))
    ]


def _finding(view: View, every: pd.DataFrame, rules: pd.Series, kind: str) -> str:
    """Count the heads that are clearly better than each rule, and name the best head."""
    beats = [
        view.say(
            "beats",
            n=int((every["low"] > share).sum()),
            rule=method_name(str(rule)),
            accuracy=percent(share),
        )
        for rule, share in rules.items()
    ]
    row = every.nlargest(1, "accuracy").iloc[0]
    return view.say(
        "finding",
        type=type_name(kind),
        n=count(row["n"]),
        n_heads=len(every),
        beats=say("list.comma").join(beats),
        head=head_of(row),
        accuracy=accuracy_of(row),
    )
