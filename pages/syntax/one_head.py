"""Accuracy of one head on every relation, compared with the best fixed offset."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.probing import dependency_accuracy
from analysis.statistics.probing.dependency_scores import DIRECTIONS
from pages.syntax.choices import EITHER, LEAST, Chosen, pick_probe, pick_relation
from pages.syntax.names import columns, direction_name, readable
from pages.syntax.row_charts import HEAD_COLOUR, OTHER_COLOUR, accuracy_rows
from pages.ui.choices.picker import choose
from pages.ui.head.choice import head_name, to_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.dependencies import EVERYTHING, relation_label
from pages.ui.words.numbers import count, percent

_COLUMNS = ("relation", "direction", "n", "accuracy", "low", "high", "offset", "offset_accuracy")


@section("one_head", dependency_accuracy.TABLE, dependency_accuracy.BASELINE)
def one_head(view: View) -> None:
    weighing = view.pick_weighing()
    relation = pick_relation(view)
    merging = view.pick("merging", MERGINGS)
    layer, head = pick_probe(view, Chosen(relation, EITHER, merging, weighing))
    least = view.number("least", 1, 100_000, LEAST)
    scores = _scores(view, layer, head, merging, weighing)
    shown, name = scores[scores["n"] >= least], head_name(layer, head)
    if shown.empty:
        return view.nothing("none", least=count(least))
    view.finding(_finding(view, shown, name))
    state = (layer, head, merging, least, weighing)
    named = readable(shown).assign(series=shown["direction"].map(direction_name))
    colours = (HEAD_COLOUR, OTHER_COLOUR)
    chart = accuracy_rows(
        named,
        colours=dict(zip(map(direction_name, DIRECTIONS), colours, strict=True)),
        tooltip=_COLUMNS,
        fields=("relation", "layer", "head"),
    )
    view.figure("accuracies", shown, chart, state=state, click=partial(_choose, view), head=name)
    view.to_section("sentences")
    view.table("table", named, columns(*_COLUMNS, "difference"), state=state, head=name)


def _choose(view: View, row: Mapping[Any, Any]) -> None:
    """Choose the relation that was clicked, and keep the head if it was the best of another."""
    choose(view.key("relation"), str(row["relation"]))
    to_head(row)


def _scores(inquiry: Inquiry, layer: int, head: int, merging: str, weighing: str) -> pd.DataFrame:
    """Accuracies of a head, sorted by the difference from the best fixed offset.

    Returns:
        layer, head, relation, direction, n, accuracy, low, high, offset, offset_accuracy,
        difference.
    """
    place = {"layer": layer, "head": head}
    scores = inquiry.ask(dependency_accuracy.of_head, **place, merging=merging, weighing=weighing)
    offsets = (
        inquiry.ask(dependency_accuracy.baselines)
        .sort_values("accuracy")
        .groupby("relation")
        .tail(1)
    )
    offsets = offsets.rename(columns={"accuracy": "offset_accuracy"}).drop(columns="n")
    scores = scores.dropna(subset="accuracy").merge(offsets, on="relation", how="left")
    gain = scores["accuracy"] - scores["offset_accuracy"]
    scores = scores.assign(**place, difference=gain)
    return scores.sort_values("difference", ascending=False, ignore_index=True)


def _finding(view: View, shown: pd.DataFrame, name: str) -> str:
    """Name the relation on which the head exceeds a fixed offset most, if there is one."""
    relations = shown[~shown["relation"].isin(EVERYTHING)]
    beyond = relations[relations["low"] > relations["offset_accuracy"]]
    if beyond.empty:
        return view.say("finding_none", head=name, of=relations["relation"].nunique())
    best = beyond.iloc[0]
    return view.say(
        "finding",
        head=name,
        n=beyond["relation"].nunique(),
        of=relations["relation"].nunique(),
        relation=relation_label(best["relation"]),
        direction=direction_name(best["direction"]),
        **best[["accuracy", "offset_accuracy"]].map(percent),
    )
