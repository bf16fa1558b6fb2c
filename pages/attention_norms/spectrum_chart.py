"""Singular values over their rank: lines for some heads, the range of all heads behind them."""

from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import ZERO
from pages.ui.charts.look import tooltips
from pages.ui.words.columns import title


def spectrum_chart(shown: pd.DataFrame, ranks: pd.DataFrame, *, log: bool) -> Any:
    """The chart.

    Args:
        shown: layer, head, rank, value, name of the heads to draw as lines.
        ranks: rank, low, high over all heads.
    """
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)
    x = alt.X(
        "rank:Q",
        title=title("rank"),
        scale=alt.Scale(domain=[1, int(ranks["rank"].max())], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1),
    )
    band = alt.Chart(ranks).mark_area(color=ZERO, opacity=0.2)
    band = band.encode(x=x, y=alt.Y("low:Q", title=title("value"), scale=scale), y2="high")
    base = alt.Chart(shown).encode(
        x=x,
        y=alt.Y("value:Q", title=title("value"), scale=scale),
        detail="name:N",
        color=alt.Color(
            "layer:O",
            title=title("layer"),
            scale=alt.Scale(scheme=alt.SchemeParams(name="viridis", extent=[0.12, 0.86])),
            legend=alt.Legend(orient="top", symbolType="stroke"),
        ),
        tooltip=tooltips(dict.fromkeys(("name", "rank", "value")), shown, ".4f"),
    )
    hit = base.mark_point(size=40, opacity=0)
    return alt.layer(band, base.mark_line(strokeWidth=1.8), hit).properties(height=360)
