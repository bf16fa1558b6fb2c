"""Accuracy of every head on one relation, with the direction of its attention."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.probing import dependency_accuracy
from pages.syntax.choices import pick_chosen, pick_probe
from pages.syntax.names import direction_name, readable
from pages.syntax.row_charts import OFFSET_COLOUR
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map_of_heads
from pages.ui.charts.standard import bars
from pages.ui.head.choice import head_of, to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.dependencies import relation_label
from pages.ui.words.interval import ends
from pages.ui.words.numbers import count, offset_label, percent


@section("heads", dependency_accuracy.TABLE, dependency_accuracy.BASELINE)
def heads(view: View) -> None:
    chosen = pick_chosen(view)
    relation, scores = relation_label(chosen.relation), chosen.heads(view).dropna(subset="accuracy")
    if scores.empty:
        return view.nothing("none", relation=relation)
    offsets = view.ask(dependency_accuracy.baselines).query("relation == @chosen.relation")
    offsets = offsets.sort_values("offset")
    view.finding(_finding(view, scores, offsets, relation))
    if view.store.is_causal:
        view.note(view.say("causal"))
    head = pick_probe(view, chosen)
    interval = scores["low"].map(percent) + " – " + scores["high"].map(percent)
    chart = number_map_of_heads(
        readable(scores.assign(relation=chosen.relation, interval=interval)),
        "accuracy",
        tooltip=("interval", "direction", "n"),
        colours=Ramp(LOW_TO_HIGH, 0.0, max(float(scores["accuracy"].max()), 0.01)),
        format=".0%",
        marked=head,
    )
    view.figure("map", scores, chart, state=(*chosen, *head), click=to_head, relation=relation)
    with view.toolbar():
        view.to_section("sentences")
        view.to_section("one_head")
    if len(offsets):
        forms: Any = {"format": ".1%", "tick_format": ".0%", "height": 240}
        chart = bars(offsets, x="offset", y="accuracy", tooltip=("n",), **forms)
        chart = chart.encode(color=alt.ColorValue(OFFSET_COLOUR))
        view.figure("offsets", offsets, chart, state=chosen.relation, relation=relation)


def _finding(view: View, scores: pd.DataFrame, offsets: pd.DataFrame, relation: str) -> str:
    """Name the best head, and count those clearly better than the best fixed offset."""
    best = scores.nlargest(1, "accuracy").iloc[0]
    sentence = view.say(
        "finding",
        relation=relation,
        n=count(best["n"]),
        head=head_of(best),
        direction=direction_name(str(best["direction"])),
        accuracy=percent(best["accuracy"]),
        interval=ends(best["low"], best["high"], percent),
    )
    if offsets.empty:
        return sentence
    offset = offsets.nlargest(1, "accuracy").iloc[0]
    beyond = view.say(
        "beyond",
        n=int((scores["low"] > offset["accuracy"]).sum()),
        of=len(scores),
        offset=offset_label(offset["offset"]),
        accuracy=percent(offset["accuracy"]),
    )
    return f"{sentence} {beyond}"
