"""A row per parser: every seed as a point, their mean as a bar."""

from typing import Any

import altair as alt
import pandas as pd

from pages.syntax.untrained import PREFIX
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import tooltips
from pages.ui.words.say import say

_BLUE, _ORANGE, _GREEN, _, _GREY, _ = SERIES_COLOURS
_KINDS = {
    "attention_words": "attention",
    "attention": "attention",
    "attention_words_shuffled": "control",
    "attention_shuffled": "control",
    f"{PREFIX}attention_words": "control",
    f"{PREFIX}attention": "control",
    "distances_words": "baseline",
    "right_branching": "baseline",
}
_COLOURS = {"attention": _BLUE, "baseline": _ORANGE, "control": _GREY}
_ROW, _AROUND = 40, 130


def parser_chart(accuracies: pd.DataFrame, spread: pd.DataFrame) -> Any:
    """Share of governors found on held-out sentences.

    Args:
        accuracies: rows method, name, seed, uas, n.
        spread: rows method, name, mean.
    """
    kinds = {kind: say(f"syntax.parsers.kind_{kind}") for kind in _COLOURS}
    order = spread.sort_values("mean", ascending=False)["name"].tolist()

    def rows(frame: pd.DataFrame) -> alt.Chart:
        shown = frame.assign(kind=frame["method"].map(_KINDS).map(kinds))
        axis = alt.Axis(labelLimit=330, labelOverlap=False, ticks=False)
        scale = alt.Scale(domain=list(kinds.values()), range=list(_COLOURS.values()))
        legend = alt.Legend(orient="top", symbolType="square", labelLimit=0)
        return alt.Chart(shown).encode(
            y=alt.Y("name:N", title=None, sort=order, axis=axis),
            color=alt.Color("kind:N", title=" ", scale=scale, legend=legend),
        )

    def across(column: str) -> alt.X:
        axis = alt.Axis(format="%", tickCount=10)
        scale = alt.Scale(domain=[0, 1])
        return alt.X(f"{column}:Q", title=say("syntax.parsers.axis"), axis=axis, scale=scale)

    means = {"name": say("syntax.parsers.method"), "mean": say("syntax.parsers.mean")}
    bars = (
        rows(spread)
        .mark_bar(opacity=0.45, size=20, cornerRadiusEnd=2)
        .encode(x=across("mean"), tooltip=tooltips({**means}, spread, ".1%"))
    )
    seeds = {
        "name": say("syntax.parsers.method"),
        "seed": say("syntax.parsers.seed"),
        "uas": say("syntax.parsers.uas"),
        "n": say("syntax.parsers.n"),
    }
    points = (
        rows(accuracies)
        .mark_circle(size=64, opacity=1)
        .encode(x=across("uas"), tooltip=tooltips({**seeds}, accuracies, ".1%"))
    )
    return alt.layer(bars, points).properties(height=_ROW * len(spread) + _AROUND)
