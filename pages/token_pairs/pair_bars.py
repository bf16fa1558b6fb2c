"""The mean change of each pair as a bar, with its interval."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.token_pairs.pair_choice import ROW
from pages.token_pairs.units import named, pair_name, relation_colour, zero_line
from pages.ui.words.say import say

_ROOM = 1.6  # how far an interval may reach beyond the longest bar before it is cut off
_BACK = 0.5
_HEIGHT = 24
_AROUND = 82  # axis below the bars
_OF_LEGEND = 18
SELECTED = "pair"


def pair_bars(frame: pd.DataFrame) -> Any:
    """One bar per row in its order, coloured by relation; a click selects the row.

    An interval of two sequences can be ten times as wide as the bar is long: it is cut off, so that
    the bars can be compared.

    Args:
        frame: rows of `pair_delta.top`, all amplified or all attenuated.
    """
    shown = _told(frame)
    domain = _domain(shown)
    base = alt.Chart(shown).encode(
        y=alt.Y(
            "pair:N",
            title=None,
            sort=shown["pair"].tolist(),
            axis=alt.Axis(labelLimit=150, labelOverlap=False, ticks=False, domain=False),
        ),
        tooltip=[
            alt.Tooltip("pair:N", title=say("token_pairs.pair")),
            alt.Tooltip("mean_delta:Q", title=say("token_pairs.column.mean_delta"), format="+.2f"),
            alt.Tooltip("interval:N", title=say("token_pairs.column.interval")),
            alt.Tooltip("n:Q", title=say("token_pairs.column.n"), format=",d"),
            alt.Tooltip("n_sequences:Q", title=say("token_pairs.column.n_sequences"), format=",d"),
            alt.Tooltip("pmi:Q", title=say("token_pairs.column.pmi"), format=".2f"),
            alt.Tooltip("relation:N", title=say("token_pairs.column.relation")),
        ],
    )
    x = alt.X(
        "mean_delta:Q",
        title=say("token_pairs.axis.mean_delta"),
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(tickCount=5, format=".3~g"),
    )
    pick = alt.selection_point(name=SELECTED, fields=[ROW], on="click", empty=False)
    bars = base.mark_bar(cornerRadiusEnd=1, cursor="pointer").encode(
        x=x,
        color=relation_colour(frame["relation"], orient="bottom", columns=1, symbolType="square"),
    )
    ends = {"x": alt.X("low:Q", title=say("token_pairs.axis.mean_delta")), "x2": alt.X2("high")}
    rules = [
        base.mark_rule(color=line, strokeWidth=width, clip=True).encode(**ends)
        for line, width in (("#f4f4f2", 3.0), ("#1b1d21", 1.2))
    ]
    zero = zero_line().encode(x="zero:Q")
    height = _HEIGHT * len(shown) + _AROUND + _OF_LEGEND * shown["relation"].nunique()
    return alt.layer(bars.add_params(pick), *rules, zero).properties(height=height)


def _told(frame: pd.DataFrame) -> pd.DataFrame:
    shown = named(frame).reset_index(drop=True)
    shown[ROW] = shown.index
    shown["pair"] = [
        pair_name(source, target)
        for source, target in zip(shown["source"], shown["target"], strict=True)
    ]
    shown["interval"] = [
        "–" if pd.isna(low) else f"{low:+.2f} … {high:+.2f}"
        for low, high in zip(shown["low"], shown["high"], strict=True)
    ]
    return shown


def _domain(shown: pd.DataFrame) -> list[float]:
    """From behind zero to beyond the longest bar, whatever lies further."""
    longest = float(shown["mean_delta"].abs().max()) or 1.0
    sign = 1 if shown["mean_delta"].iloc[0] > 0 else -1
    ends = sign * shown[["low", "high"]].to_numpy()
    ends = ends[np.isfinite(ends)]
    back = min(0.0, max(ends.min(), -_BACK * longest)) if ends.size else 0.0
    front = max(longest, min(ends.max(), _ROOM * longest)) if ends.size else longest
    return sorted([float(sign * back), float(sign * front * 1.02)])
