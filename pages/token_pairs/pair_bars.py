"""The mean change of each pair as a bar, with its interval."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.token_pairs.choices import PAIR
from pages.token_pairs.lists import with_pair_names
from pages.ui.charts.colours import EDGES, ZERO
from pages.ui.charts.look import cell_selection, coloured, tooltips
from pages.ui.charts.points import POINT
from pages.ui.words.columns import title
from pages.ui.words.interval import with_interval

_ROOM = 1.6  # how far an interval may reach beyond the longest bar before it is cut off
_BACK = 0.5
_HEIGHT = 24
_AROUND = 82  # axis below the bars
_OF_LEGEND = 18


def pair_bars(frame: pd.DataFrame) -> Any:
    """One bar per row in its order, coloured by relation; a click gives back its pair.

    An interval of two sequences can be ten times as wide as the bar is long: it is cut off, so that
    the bars can be compared.

    Args:
        frame: rows of `pair_delta.top`, all amplified or all attenuated.
    """
    shown = with_pair_names(frame)
    numbers = zip(shown["mean_delta"], shown["low"], shown["high"], strict=True)
    shown["interval"] = [with_interval(*each, "{:+.2f}".format) for each in numbers]
    delta, names = title("mean_delta"), ("pair", "interval", "n", "n_sequences", "pmi", "relation")
    shown, colour, relations = coloured(shown, "relation", None)
    base = alt.Chart(shown).encode(
        y=alt.Y(
            "pair:N",
            title=None,
            sort=shown["pair"].tolist(),
            axis=alt.Axis(labelLimit=150, labelOverlap=False, ticks=False, domain=False),
        ),
        tooltip=tooltips(dict.fromkeys(names), shown, "+.2f"),
    )
    x = alt.X(
        "mean_delta:Q",
        title=delta,
        scale=alt.Scale(domain=_domain(shown), nice=False),
        axis=alt.Axis(tickCount=5, format=".3~g"),
    )
    colour.legend = alt.Legend(orient="bottom", columns=1, symbolType="square", labelLimit=260)
    bars = base.mark_bar(cornerRadiusEnd=1, cursor="pointer").encode(x=x, color=colour)
    ends = {"x": alt.X("low:Q", title=delta), "x2": alt.X2("high")}
    rules = [
        base.mark_rule(color=line, strokeWidth=width, clip=True).encode(**ends)
        for line, width in zip(EDGES, (3.0, 1.2), strict=True)
    ]
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO).encode(x="zero:Q")
    height = _HEIGHT * len(shown) + _AROUND + _OF_LEGEND * len(relations)
    bars = bars.add_params(cell_selection(POINT, *PAIR))
    return alt.layer(bars, *rules, zero).properties(height=height)


def _domain(shown: pd.DataFrame) -> list[float]:
    """From before zero to beyond the longest bar, whatever lies further."""
    longest = float(shown["mean_delta"].abs().max()) or 1.0
    sign = 1 if shown["mean_delta"].iloc[0] > 0 else -1
    ends = sign * shown[["low", "high"]].to_numpy()
    ends = ends[np.isfinite(ends)]
    back = min(0.0, max(ends.min(), -_BACK * longest)) if ends.size else 0.0
    front = max(longest, min(ends.max(), _ROOM * longest)) if ends.size else longest
    return sorted([float(sign * back), float(sign * front * 1.02)])
