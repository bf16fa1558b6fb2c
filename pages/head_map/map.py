"""Map of all heads in a plane, by layer and by main habit (figure 6)."""

from typing import Any

import pandas as pd

from analysis.effects import MEAN
from analysis.statistics.heads import (
    head_arrangement,
    head_distance,
    head_effect,
    head_pattern,
)
from pages.head_map.apart import DISTANCE, most_unlike, nats
from pages.head_map.plane_chart import plane_chart
from pages.ui.head import behaviours
from pages.ui.head.choice import head_of, to_head
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.missing import show_command
from pages.ui.view import View
from pages.ui.words.say import plain

_KRUSKAL = {"excellent": 0.025, "good": 0.05, "fair": 0.1}


@section(
    "map",
    head_arrangement.LAYOUT,
    head_distance.TABLE,
    also=(head_pattern.TABLE, head_effect.TABLE),
)
def plane(view: View) -> None:
    weighing = view.pick_weighing()
    points = view.ask(head_arrangement.layout, weighing=weighing)
    view.finding(_finding(view, points, weighing))
    if view.store.is_causal:
        view.note(view.say("causal"))
    head = pick_head(view, default=most_unlike(view))
    named = _named(view, points, weighing) if behaviours.has_habits(view.store) else None
    drawn: dict[str, Any] = {"state": (weighing, *head), "click": to_head, "weighing": weighing}
    colour = view.pick("colour", ("layer", "change"))
    if colour == "change":
        view.require(head_effect.TABLE)
    left, right = view.columns(2)
    with left:
        if colour == "change":
            points = _with_effects(view, points)
            view.figure(
                "by_effect", points, plane_chart(points, marked=head, value="change"), **drawn
            )
        else:
            view.figure("by_layer", points, plane_chart(points, marked=head), **drawn)
    with right:
        if named is None:
            table, name = head_pattern.TABLE, plain(view.store.name)
            view.nothing("no_habits", name=name, statistics=table.name)
            view.draw(show_command, view.store, table)
        else:
            looks = behaviours.looks()
            chart = plane_chart(
                named, marked=head, colours=looks["colours"], shapes=looks["shapes"]
            )
            view.figure("by_behaviour", named, chart, **drawn)


def _with_effects(inquiry: Inquiry, points: pd.DataFrame) -> pd.DataFrame:
    """Add the change of the last hidden states with each head's mean in its place."""
    effects = inquiry.ask(head_effect.heads, filling=MEAN, quantity="length").rename(
        columns={"mean": "change"}
    )
    return points.merge(effects[["layer", "head", "change"]], on=["layer", "head"])


def _finding(view: View, points: pd.DataFrame, weighing: str) -> str:
    """Name the nearest and the farthest pair, and judge the map by its stress (after Kruskal)."""
    stress = points["stress"].iloc[0]
    if pd.isna(stress):
        return view.say("no_stress")
    pairs = view.ask(head_distance.distances, weighing=weighing).query(
        "layer_a < layer_b or (layer_a == layer_b and head_a < head_b)"
    )
    values: dict[str, str] = {}
    for name, at in (("near", pairs[DISTANCE].idxmin()), ("far", pairs[DISTANCE].idxmax())):
        row = pairs.loc[at]
        values |= {f"{name}{side}": head_of(row, side) for side in ("_a", "_b")}
        values[name] = nats(row[DISTANCE])
    verdict = next((name for name, most in _KRUSKAL.items() if stress <= most), "poor")
    judged = view.say(f"stress_{verdict}", stress=f"{stress:.2f}")
    return f"{view.say('pairs', **values)} {judged}"


def _named(view: View, points: pd.DataFrame, weighing: str) -> pd.DataFrame:
    """Add the main habit of each head, by the reader's thresholds."""
    with view.fold(view.say("threshold.title")):
        thresholds = behaviours.pick_thresholds(view)
    habits = behaviours.behaviours_of_heads(view, thresholds, weighing=weighing)
    named = points.merge(habits, on=["layer", "head"])
    view.finding(behaviours.habits_sentence(named))
    return named
