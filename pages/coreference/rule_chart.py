"""A group of bars per type of mention: a head beside the rules, with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.look import flat_axis, tooltips
from pages.ui.words.say import say

_LIGHT, _DARK = ("#f4f4f2", 3.5), ("#1b1d21", 1.5)


def rule_chart(frame: pd.DataFrame, *, colours: Mapping[str, str], types: Sequence[str]) -> Any:
    """Bars with rules from low to high.

    Args:
        frame: rows type, method (names that readers see), n, accuracy, low, high.
        colours: of the methods, in the order of the bars.
        types: in the order of the groups.
    """
    told: dict[str | None, str | None] = {
        "type": say("coreference.kind"),
        "method": say("coreference.method"),
        "n": say("coreference.n"),
        "accuracy": say("coreference.accuracy"),
        "low": say("coreference.low"),
        "high": say("coreference.high"),
    }
    base = alt.Chart(frame).encode(
        x=alt.X("type:N", title=say("coreference.kind"), sort=list(types), axis=flat_axis()),
        xOffset=alt.XOffset("method:N", sort=list(colours)),
        tooltip=tooltips(told, frame, ".1%"),
    )
    marks = base.mark_bar(cornerRadiusEnd=1).encode(
        y=alt.Y(
            "accuracy:Q",
            title=say("coreference.accuracy_axis"),
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
        color=alt.Color(
            "method:N",
            title=" ",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=alt.Legend(orient="top", symbolType="square", labelLimit=0, columns=4),
        ),
    )
    rules = [
        base.mark_rule(color=colour, strokeWidth=width).encode(y="low:Q", y2="high")
        for colour, width in (_LIGHT, _DARK)  # seen on bars of any colour, by day and by night
    ]
    return alt.layer(marks, *rules).properties(height=340)
